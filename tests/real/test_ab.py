"""LiteLLM against Portkey: two products behind one simulator, asked in turn."""

import os

import pytest

from tests.command_line import CommandLine
from tests.real.gateways import GATEWAYS, PORTKEY, document_of

pytestmark = pytest.mark.real

PACED = "sim-ttft40-itl8-n30"
FEW = ("--pairs", "12", "--noise-pairs", "0", "--cold-pairs", "0", "--json")


@pytest.fixture
def command(tmp_path):
    missing = [one.missing for one in GATEWAYS.values() if one.missing]
    if missing and os.environ.get("CI"):
        pytest.fail(missing[0])
    if missing:
        pytest.skip(missing[0])
    tree = tmp_path / "tree"
    tree.mkdir()
    line = CommandLine(tmp_path / "home", tree, **GATEWAYS["litellm"].environ)
    yield line
    assert line.records() == []
    assert line.leftovers() == []


def test_two_products_compare_and_each_is_told_by_its_name(command, tell):
    sides = ("--a-preset", "litellm", "--b-preset", "portkey", "--b", str(PORTKEY))
    done = command("ab", PACED, *sides, *FEW)
    assert done.code == 0, done.err
    summary = document_of(done)["summary"]
    (level,) = summary["paired"]["levels"]
    assert summary["paired"]["base"] == "a (litellm)"
    assert "portkey" in summary["paired"]["changed"]
    assert (level["failedBase"], level["failedChanged"]) == (0, 0)
    warm = {one["metric"]: one for one in level["warm"]}
    assert {one["pairs"] for one in warm.values()} == {12}
    # The same upstream, the same model, as many tokens: nothing makes them incomparable.
    assert not any(one["spoils"] for one in summary["paired"]["confounds"])
    assert all(gateway["stopped"] for gateway in done.told["detail"]["gateway"].values())
    tell(f"ab: {done.told['headline']}")
