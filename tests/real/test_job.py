"""The whole `run` command on real gateways: from nothing to reports, and back to nothing."""

import json
import os
import signal
import socket
from pathlib import Path

import pytest

from bench.journal import read_journal
from tests.patience import until
from tests.real.gateways import document_of, journal_of, marked

pytestmark = pytest.mark.real

ANSWERING = "sim-ttft20-itl2"
"""Without a set length it answers from the book that the run writes: right, and with a tool call."""
RUNS = 12
SLOW = (
    "sim-ttft60-itl20-n25",
    "--case",
    "fixed_output_stream",
    "--runs",
    str(RUNS),
    "--warmup",
    "0",
)


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_one_command_from_start_to_stop(gateway, command):
    done = command("run", ANSWERING, *gateway.words, "--json")
    assert done.code == 0, done.err
    told = done.told
    assert (told["planned"], told["done"], told["failed"]) == (17, 17, 0)
    assert "SIMULATED" in told["headline"]

    stem = str(journal_of(done)).removesuffix(".jsonl")
    suffixes = [".json", ".md", ".html", "-timings.md", "-timings.csv", ".jsonl"]
    assert told["files"] == [stem + suffix for suffix in suffixes]
    for suffix in suffixes:
        assert Path(stem + suffix).stat().st_size > 0
    assert "SIMULATED" in Path(stem + ".md").read_text().partition("\n")[0]

    document = document_of(done)
    assert document["simulated"] is True
    judged = [t["evaluation"]["passed"] for t in document["trials"] if t["evaluation"]]
    assert judged == [True] * 12, "the tool call of one case among them"
    assert document["config"]["isPaid"] is False
    assert "its upstream is the embedded simulator" in done.err

    life = document["gateway"]
    names = [event["name"] for event in life["events"]]
    assert names == ["spawned", "adopted", "proven", "ready", "term_sent", "gone", "port_free"]
    assert life["identity"]["adopter"]["pid"] == 1
    assert life["identity"]["exposure"] == []
    assert "would be hit" not in done.err
    assert life["exit"]["signal"] == signal.SIGTERM
    assert life["build"]["commit"] is None, "installed, not built from a worktree"
    assert is_free(life["identity"]["port"])
    assert marked(told["runId"]) == []


def test_a_gateway_killed_in_the_middle_is_told_from_a_provider_and_the_run_goes_on(
    gateway, command
):
    job = command.begin("run", *SLOW, *gateway.words, "--json")
    until(
        lambda: (
            [j for j in command.out.glob("*.jsonl") if j.read_bytes().count(b'"trial","') > 1]
            or job.poll() is not None
        )
    )
    (record,) = (one for one in command.records() if one["labels"]["preset"] == gateway.name)
    os.kill(record["identity"]["pid"], signal.SIGKILL)
    ended = command.end(job)
    assert ended.code == 4, ended.err

    journal = journal_of(ended)
    before = read_journal(journal)
    # That a machine stood still may lie beside it.
    (incident,) = (one for one in before.incidents if one.incident_class != "watch_halted")
    assert incident.incident_class == "gateway_killed"
    assert incident.detail["signal"] == signal.SIGKILL
    touched = [trial for trial in before.trials if trial.invalidated]
    kept = {trial.id: trial for trial in before.trials if not trial.invalidated}
    assert {trial.invalidated for trial in touched} <= {"gateway_killed"}
    assert len(touched) <= 1, "one request at a time was in flight"
    assert 2 <= len(kept) < RUNS
    assert before.footer is not None
    assert (before.footer.reason, before.footer.exit_code) == ("gateway", 4)
    first = journal.with_suffix(".md").read_text().partition("\n")[0]
    assert "killed" in first.lower()
    codes = [trial.response.error.code for trial in before.trials if trial.response.error]
    assert set(codes) <= {"gateway_died"}, "not an outage of the provider"

    resumed = command("resume", str(journal), "--json")
    assert resumed.code == 0, resumed.err
    after = read_journal(journal)
    assert {t.id: t for t in after.trials if t.id in kept} == kept
    assert len(after.trials) == RUNS
    assert not any(trial.invalidated for trial in after.trials)
    assert after.footer is not None
    assert after.footer.exit_code == 0
    starts = [json.loads(line) for line in journal.read_bytes().splitlines()]
    asked = [one["trialId"] for one in starts if one["type"] == "started"]
    assert all(asked.count(trial_id) == 1 for trial_id in kept)
    assert marked(before.header.run_id) == []
