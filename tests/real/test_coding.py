"""The coding profile through a real gateway: tool calls survive its translation, both ways."""

import msgspec
import pytest

from bench.agent.book import book_entry
from bench.agent.coding_cases import coding_cases
from bench.agent.loading import load_tasks
from bench.journal import read_journal
from tests.real.gateways import Standing, document_of, journal_of

pytestmark = pytest.mark.real

PERFECT, MALFORMED, SLOPPY = "sim-perfect", "sim-malformed", "sim-sloppy"
TASKS = (
    "agentic_bugfix_small",
    "agentic_api_change",
    "agentic_text_merge",
)
"""Of every difficulty, with one file and with six to change."""


@pytest.fixture(scope="module")
def measured(standing: Standing):
    """Some tasks by three agents, once each."""
    with standing.simulator.book_path.open("ab") as book:
        for case_id, case in coding_cases(load_tasks().values()).items():
            entry = book_entry(load_tasks()[case_id], case.build(1).request.messages)
            book.write(msgspec.json.encode(entry) + b"\n")
    return standing.command(
        *("bench", PERFECT, "--model", MALFORMED, "--model", SLOPPY),
        *("--case", ",".join(TASKS), "--runs", "1"),
        *("--url", standing.url, "--api-key-env", standing.gateway.key_variable),
        *("--dialect", standing.gateway.name, *standing.gateway.pointing(standing.simulator)),
        *("--no-budget", "--allow-reduced-sandbox", "--yes", "--json"),
        **{standing.gateway.key_variable: standing.gateway.token},
    )


@pytest.fixture(scope="module")
def trials(measured):
    assert measured.code == 0, measured.err
    return read_journal(journal_of(measured)).trials


def of(trials, model):
    return [trial for trial in trials if trial.target_id == model]


def test_no_request_failed_and_every_trial_ended_by_the_models_own_word(trials):
    assert len(trials) == 3 * len(TASKS)
    assert [(t.case_id, t.response.error) for t in trials if t.response.error] == []
    assert {trial.agent.stop_reason for trial in trials} == {"no_tool_calls"}


def test_the_perfect_agent_solves_every_task_through_the_gateway(trials):
    unsolved = [t.case_id for t in of(trials, PERFECT) if not t.evaluation.passed]
    assert unsolved == []
    assert sum(trial.agent.invalid_calls for trial in of(trials, PERFECT)) == 0


def test_broken_calls_are_told_back_and_the_work_goes_on(trials):
    for trial in of(trials, MALFORMED):
        assert trial.agent.invalid_calls > 0
        assert trial.evaluation.passed


def test_the_sloppy_agent_solves_none(trials):
    assert [t.case_id for t in of(trials, SLOPPY) if t.evaluation.passed] == []


def test_what_was_written_is_what_was_sent_letter_by_letter(trials):
    """The files at the end are the reference's: nothing was lost on the way through."""
    from bench.agent.task import changed
    from bench.agent.workspace import tree_hash

    for trial in of(trials, PERFECT):
        task = load_tasks()[trial.case_id]
        solution = {p: text for p, text in task.solution.items() if text is not None}
        assert trial.agent.tree_hash == tree_hash(changed(task.files, solution))


def test_a_replay_comes_to_the_same_verdicts(measured, trials, standing: Standing):
    found = standing.command(
        "replay", str(journal_of(measured)), "--allow-reduced-sandbox", "--json"
    )
    assert (found.code, found.told["reason"]) == (0, "replayed"), found.err
    assert document_of(measured)["sandbox"]["level"] in {"full", "reduced"}
