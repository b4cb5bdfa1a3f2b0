"""A whole run while something changes around its gateway: told at once, kept, and in each report."""

import json
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.patience import until
from tests.small_disk import small_disk
from tests.small_gateway import write_small_gateway

pytestmark = pytest.mark.integration

RUN = ("run", "m", "--case", "seeded_grounded_unknown", "--no-stream", "--no-budget", "--yes")


@pytest.fixture
def command(tmp_path):
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    line = CommandLine(tmp_path / "home", folder)
    yield line
    assert line.records() == []
    assert line.leftovers() == []


def wait_for(command, *kinds):
    """Wait until the journal holds a record of each kind."""
    wanted = [f'"type":"{kind}"'.encode() for kind in kinds]

    until(lambda: all(kind in journal(command) for kind in wanted))


def journal(command):
    return b"".join(one.read_bytes() for one in command.out.glob("*.jsonl"))


def incident_of(kept, kind):
    """Return the one of a class; that a machine stood still may lie beside it."""
    (found,) = (one for one in kept["incidents"] if one["class"] != "watch_halted")
    assert found["class"] == kind
    return found


def document(done):
    (path,) = [one for one in done.told["files"] if one.endswith(".json")]
    return json.loads(Path(path).read_bytes())


def test_a_build_that_changes_during_a_run_is_told_and_the_run_goes_on(command):
    write_small_gateway(command.cwd)
    (command.cwd / "lazy.py").write_text("A = 1\n")
    words = (*RUN, "--entry", "gateway_entry.py", "--runs", "25", "--json")
    # The answers wait for the note: it is written down while the run goes on.
    held = command.cwd / ".held"
    job = command.begin(*words, DELAY_S="0.4", HOLD_WHILE=str(held))
    wait_for(command, "trial")
    held.touch()
    (command.cwd / "lazy.py").write_text("A = 2\n")
    wait_for(command, "incident")
    until(lambda: journal(command).count(b'"type":"sample"') >= 8)
    held.unlink()
    done = command.end(job)
    assert (done.code, done.told["done"]) == (0, 25), done.err
    assert "build_changed: The build changed on disk while the gateway was running: `lazy.py`" in (
        done.err
    )
    kept = document(done)
    incident = incident_of(kept, "build_changed")
    assert incident["touchedTrials"] == []
    assert [one["level"] for one in kept["trust"] if one["code"] == "build_changed"] == ["doubtful"]
    reports = [Path(one) for one in done.told["files"] if one.endswith((".md", ".html"))]
    assert all("build_changed" in one.read_text() for one in reports)
    used = kept["gateway"]["resources"]
    assert used["requests"] >= 25
    assert used["samples"] >= 8
    assert used["coldStartMs"] > 0
    assert used["cpuMsPerRequest"] > 0
    assert 0 < used["idlePssMb"] <= used["peakRssMb"]
    assert used["maxConnectionsIn"] is not None
    assert len(used["series"]["atMs"]) == used["samples"]
    assert "CPU" in done.err
    assert "<polyline" in next(one for one in reports if one.suffix == ".html").read_text()


def test_little_room_for_results_is_told_and_the_run_goes_on(command, tmp_path):
    with small_disk(tmp_path / "small", kilobytes=8_000):
        done = command(
            "demo",
            "sim-ttft100-itl20-n20",
            "--case",
            "fixed_output_stream",
            "--runs",
            "9",
            "--json",
            BENCHMARK_OUTPUT_DIR=str(tmp_path / "small"),
        )
        kept = document(done)
    assert done.code == 0
    incident = incident_of(kept, "disk_low")
    assert incident["summary"] in done.err
    assert done.told["done"] == done.told["planned"]
