"""The coding profile as people run it: scripted agents, the real sandbox, kills and replays."""

import json
import re
import signal

import msgspec
import pytest

from bench.agent.book import book_entry
from bench.agent.coding_cases import coding_cases
from bench.agent.loading import load_tasks
from bench.cli.entry import run
from bench.cli.group import cli
from bench.journal import read_journal
from bench.model.steps import TurnDone
from bench.sandbox import probe
from tests.bench_process import Bench
from tests.simulator_process import running_simulator
from tests.turnstile import turnstile

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(probe().level == "none", reason="this machine has no sandbox"),
]

TASK = "agentic_bugfix_small"
CASE = ("--case", TASK, "--runs", "1", "--allow-reduced-sandbox")
FEW_TURNS = ("--max-turns", "12")
AGENTS = ("perfect", "sloppy", "stubborn", "malformed", "endless", "cheating")


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator")) as made:
        tasks = load_tasks()
        with made.book_path.open("ab") as book:
            for case_id, case in coding_cases(tasks.values()).items():
                entry = book_entry(tasks[case_id], case.build(1).request.messages)
                book.write(msgspec.json.encode(entry) + b"\n")
        yield made


def bench_in(folder, simulator):
    return Bench(folder=folder, url=simulator.url)


@pytest.fixture
def bench(simulator, tmp_path):
    made = bench_in(tmp_path, simulator)
    yield made
    made.end_all()


@pytest.fixture(scope="module")
def measured(simulator, tmp_path_factory):
    """One run in which every agent works on one task."""
    made = bench_in(tmp_path_factory.mktemp("agents"), simulator)
    more = [word for agent in AGENTS[1:] for word in ("--model", f"sim-{agent}")]
    code, told, said = made.finish(made.start_run("sim-perfect", *more, *CASE, *FEW_TURNS))
    assert code == 0, said
    assert (told["planned"], told["done"]) == (len(AGENTS), len(AGENTS))
    yield made
    made.end_all()


@pytest.fixture(scope="module")
def trials(measured):
    found = read_journal(measured.journal).trials
    return {trial.target_id.removeprefix("sim-"): trial for trial in found}


@pytest.mark.parametrize(
    ("agent", "stop", "solved", "verified"),
    [
        ("perfect", "no_tool_calls", True, True),
        ("sloppy", "no_tool_calls", False, False),
        ("stubborn", "no_tool_calls", False, True),  # the visible tests do not find its fault
        ("malformed", "no_tool_calls", True, True),
        ("endless", "turn_limit", False, False),
        ("cheating", "no_tool_calls", False, False),
    ],
)
def test_each_agent_gets_what_it_deserves(trials, agent, stop, solved, verified):
    trial = trials[agent]
    assert trial.response.error is None
    assert trial.agent.stop_reason == stop
    assert trial.evaluation.passed is solved
    assert trial.agent.self_verified is verified


def test_bad_calls_are_counted_and_the_work_goes_on(trials):
    assert trials["malformed"].agent.invalid_calls == 11
    assert trials["perfect"].agent.invalid_calls == 0
    assert trials["stubborn"].agent.repeated_calls == 6  # three of four rounds, two calls each


def test_the_turns_of_every_trial_are_in_document_and_page(measured, trials):
    document = json.loads(measured.journal.with_suffix(".json").read_bytes())
    assert document["sandbox"]["level"] in {"full", "reduced"}
    for trial in document["trials"]:
        assert len(trial["turns"]) == trial["agent"]["turns"]
    page = measured.journal.with_suffix(".html").read_text()
    for agent in AGENTS:
        assert f"sim-{agent} · {TASK} · run 1" in page
    assert "Agentic coding" in measured.journal.with_suffix(".md").read_text()
    targets = {target["targetId"]: target["agent"] for target in document["summary"]["targets"]}
    assert targets["sim-perfect"]["solveRate"] == 1
    assert targets["sim-endless"]["stopReasons"] == {"turn_limit": 1}
    assert targets["sim-endless"]["turns"]["max"] == 12
    assert document["config"]["maxTurns"] == 12


def replayed(path, capsys, *words):
    """Replay in this process; return exit code, the object on stdout, and what was said."""
    code = run(cli, ["replay", str(path), *words, "--allow-reduced-sandbox", "--json"])
    told = capsys.readouterr()
    return code, json.loads(told.out), told.err


def test_a_replay_comes_to_the_same_files_and_verdicts(measured, capsys):
    code, told, said = replayed(measured.journal, capsys)
    assert (code, told["reason"]) == (0, "replayed"), said
    detail = told["detail"]
    assert {one["trialId"].split("|")[0] for one in detail["trials"]} == {
        f"sim-{agent}" for agent in AGENTS
    }
    assert all(one["sameTree"] and one["sameVerdict"] for one in detail["trials"])


def test_a_replay_tells_of_other_files_and_of_calls_that_did_something_else(
    measured, capsys, tmp_path
):
    path = tmp_path / "changed.jsonl"
    lines = measured.journal.read_bytes().splitlines()
    path.write_bytes(b"\n".join(map(with_another_end, lines)) + b"\n")
    trial = f"sim-perfect|{TASK}|r1"
    code, told, said = replayed(path, capsys, "--trial", trial)
    assert (code, told["reason"]) == (6, "replay_differs")
    assert "1 of 1 trial came to another end than recorded" in said
    (one,) = told["detail"]["trials"]
    assert (one["sameTree"], one["sameVerdict"], one["otherResults"]) == (False, True, 1)
    code = run(cli, ["replay", str(path), "--trial", trial, "--allow-reduced-sandbox"])
    shown = capsys.readouterr().out
    assert f"{trial}: OTHER FILES, same verdict (solved)" in shown
    assert "run_tests: was 'the tests failed', is 'the tests passed'" in shown


def with_another_end(line):
    """Return a line of a journal in which tests failed and files have another hash."""
    found = re.sub(rb'"treeHash":"[0-9a-f]{8}', b'"treeHash":"00000000', line)
    return found.replace(
        b'"testsPassed":true,"detail":"the tests passed"',
        b'"testsPassed":false,"detail":"the tests failed"',
    )


def test_a_replay_of_what_is_not_there_names_what_is(measured, capsys):
    code, _, said = replayed(measured.journal, capsys, "--trial", f"sim-perfet|{TASK}|r1")
    assert code == 2
    assert f"did you mean `sim-perfect|{TASK}|r1`" in said
    assert "Traceback" not in said


SCRIPTED = "agentic_bugfix_small_javascript"
OLD_NODE = "#!/bin/sh\nprintf 'SyntaxError: Unexpected reserved word\\n' >&2\nexit 1\n"


def test_a_node_that_can_not_run_the_tasks_is_told_before_anything_is_sent(simulator, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "node").write_text(OLD_NODE)
    (tools / "node").chmod(0o755)
    made = Bench(folder=tmp_path, url=simulator.url, environ={"PATH": str(tools)})
    words = ("--case", f"{TASK},{SCRIPTED}", "--runs", "1", "--allow-reduced-sandbox")
    code, told, said = made.finish(made.start_run("sim-perfect", *words))
    assert (code, told["planned"], told["done"]) == (0, 1, 1), said
    assert f"not run: {SCRIPTED} (Node " in said
    document = json.loads(made.journal.with_suffix(".json").read_bytes())
    assert list(document["config"]["notRun"]) == [SCRIPTED]
    assert f"Not run: {SCRIPTED}. Node " in made.journal.with_suffix(".md").read_text()
    made.end_all()


def test_a_run_that_is_killed_goes_on_after_its_last_turn(bench):
    bench.is_covered = False
    with turnstile(bench.url, passes=2) as gate:
        bench.url = gate.url
        process = bench.start_run("sim-perfect", *CASE)
        gate.wait()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        gate.open()
        before = turns_of(bench)
        assert len(before) == 2
        bench.is_covered = True
        address = ("--url", bench.url, "--api-key-env", "LOCAL_TEST_KEY")
        words = (*address, "--yes", "--allow-reduced-sandbox")
        code, told, said = bench.do("resume", str(bench.journal), *words)
        assert code == 0, said
    assert (told["planned"], told["done"]) == (1, 1)
    ledger = read_journal(bench.journal)
    (trial,) = ledger.trials
    assert trial.evaluation is not None
    assert trial.agent is not None
    assert trial.evaluation.passed
    assert trial.agent.replayed_turns == len(before)
    assert [record.turn.number for record in turns_of(bench)] == [1, 2, 3, 4, 5]
    assert len(ledger.possibly_billed) == 1


def turns_of(bench):
    return [
        msgspec.json.decode(line, type=TurnDone)
        for line in bench.journal.read_bytes().splitlines()
        if b'"type":"turn"' in line
    ]
