"""`overhead` on a gateway that is started for it: the job brings its upstream along."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.journal import read_journal
from tests.command_line import CommandLine, hear
from tests.decided import is_told
from tests.delaying_gateway import DelayingGateway
from tests.patience import until

pytestmark = pytest.mark.integration

MODEL = "sim-ttft20-itl3-n20"
FEW = ("--pairs", "6", "--noise-pairs", "2", "--cold-pairs", "0", "--json")


@pytest.fixture
def gateway(tmp_path):
    made = DelayingGateway(tmp_path / "gateway", delay_ms="20")
    subprocess.run([sys.executable, "build.py"], cwd=made.folder, check=True)
    return made


@pytest.fixture
def command(tmp_path, gateway):
    made = CommandLine(tmp_path / "home", gateway.folder)
    assert made("trust", ".").code == 0
    yield made
    assert made.leftovers() == []


def document_of(done):
    path = next(one for one in done.told["files"] if one.endswith(".json"))
    return json.loads(Path(path).read_text())


def ttft_of(document):
    (level,) = document["summary"]["paired"]["levels"]
    return next(one for one in level["warm"] if one["metric"] == "ttft")


def test_the_gateway_is_held_against_the_simulator_that_was_started_for_it(command):
    done = command("overhead", MODEL, *FEW)
    assert done.code == 0, done.err
    document = document_of(done)
    paired = document["summary"]["paired"]
    found = ttft_of(document)
    assert found["difference"] > 0
    if is_told(found, "higher"):
        assert done.told["headline"].startswith("Adds ")
    assert document["summary"]["overhead"]["use"][0]["rssMb"] > 0
    assert document["config"]["isPaid"] is False
    assert paired["confounds"] == [], "a simulator has no customers"
    assert document["gateway"]["exit"] is not None


def test_an_interrupted_one_is_resumed_on_the_same_build_and_a_new_simulator(command, tmp_path):
    # In the middle of a pair: it is torn, and left out by design. An interval needs six others.
    hold = tmp_path / "hold"
    words = ("overhead", MODEL, "--pairs", "8", *FEW[2:])
    process = command.begin(*words, HOLD_FROM="6", HOLD=str(hold))
    until(lambda: hold.with_suffix(".here").exists() or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    hear(process, "interrupted: 1 request in flight")
    hold.touch()
    cut = command.end(process)
    assert cut.code == 130, cut.err
    (journal,) = command.out.glob("*.jsonl")
    assert read_journal(journal).missing
    done = command("resume", str(journal), "--json")
    assert done.code == 0, done.err
    assert read_journal(journal).missing == ()
    found = ttft_of(document_of(done))
    assert found["pairs"] in (7, 8)
    assert found["difference"] > 0
    assert not is_told(found, "higher") or done.told["headline"].startswith("Adds ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("--preset", "demo"), "answers by itself", id="embedded"),
        pytest.param(("--upstream", "own"), "--baseline-url URL", id="own"),
        pytest.param(("--url", "http://127.0.0.1:9", "--keep", "--entry", "x"), "--url", id="url"),
    ],
)
def test_who_it_is_held_against_has_to_be_known_before_anything_starts(command, words, said):
    done = command("overhead", MODEL, *words, "--json")
    assert done.code == 2, done.err
    assert said in json.dumps(done.told)
