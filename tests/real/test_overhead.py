"""What LiteLLM and Portkey add, in sign and order: how much is for the machine to say."""

import pytest

from tests.real.gateways import document_of

pytestmark = pytest.mark.real

PACED = "sim-ttft40-itl8-n30"
FEW = ("--pairs", "20", "--noise-pairs", "8", "--cold-pairs", "6", "--json")


def test_a_real_gateway_adds_time_and_passes_the_stream_on(gateway, command, tell):
    done = command("overhead", PACED, *gateway.words, *FEW)
    assert done.code == 0, done.err
    document = document_of(done)
    summary = document["summary"]
    (level,) = summary["paired"]["levels"]
    warm = {one["metric"]: one for one in level["warm"]}
    assert warm["ttft"]["pairs"] == 20
    assert warm["ttft"]["difference"] > 0
    assert warm["total"]["difference"] > 0
    assert not any("other_" in one["code"] for one in summary["paired"]["confounds"])
    assert summary["overhead"]["buffering"]["verdict"] == "none"
    assert summary["overhead"]["use"][0]["rssMb"] > 0
    tell(f"{gateway.name}: {done.told['headline']}")
