import asyncio
from types import SimpleNamespace

import msgspec
import pytest

from bench.agent.loop import figures
from bench.agent.replay import replay, unreplayable
from bench.app.replaying import check_unchanged, chosen_trials, replay_trials
from bench.errors import UnknownName, UsageFault
from bench.model.trial import Response, Trial
from tests.agent_stage import DONE, MEND, RUN, TASK, FakeBench, call, says, worked
from tests.fakes import FakeClock

WORK = (says(call("list_files"), call("oops", "{")), says(MEND, RUN), DONE)


def recorded(*answers, passed=True, trial_id="a|mend|r1"):
    done, one, _ = worked(*(answers or WORK))
    run = msgspec.structs.replace(figures(done, one, reusable_turns=0), tree_passed=passed)
    trial = Trial(
        id=trial_id,
        target_id="a",
        case_id="mend",
        run=1,
        seed=1,
        started_offset_ms=0.0,
        finished_offset_ms=1.0,
        outcome="completed",
        response=Response(),
        agent=run,
    )
    return trial, done.turns


def again(trial, turns, bench=None):
    return asyncio.run(
        replay(TASK, turns, trial.agent, bench=bench or FakeBench(), clock=FakeClock())
    )


def ledger(*pairs, keeps=True, text_hash="h"):
    config = SimpleNamespace(save_responses=keeps)
    cases = (SimpleNamespace(id="mend", text_hash=text_hash),)
    return SimpleNamespace(
        trials=tuple(trial for trial, _ in pairs),
        turns={trial.id: turns for trial, turns in pairs},
        header=SimpleNamespace(config=config, cases=cases),
    )


def test_the_same_calls_come_to_the_same_files_and_verdict():
    found = again(*recorded())
    assert found.is_same
    assert (found.calls, found.differences) == (4, ())
    assert found.verdict.passed


def test_another_text_that_was_written_is_another_tree():
    trial, turns = recorded()
    calls = list(turns[1].calls)
    calls[0] = msgspec.structs.replace(calls[0], arguments=calls[0].arguments.replace("+", "*"))
    changed = msgspec.structs.replace(turns[1], calls=tuple(calls))
    found = again(trial, (turns[0], changed, turns[2]))
    assert not found.is_same
    assert (found.same_tree, found.same_verdict) == (False, False)
    (test_run,) = [one for one in found.differences if one.matters]
    assert (test_run.call, test_run.recorded, test_run.now) == (
        "run_tests",
        "the tests passed",
        "the tests failed",
    )


def test_a_judge_that_thinks_otherwise_now_is_another_verdict():
    found = again(*recorded(passed=False))
    assert (found.same_tree, found.same_verdict, found.is_same) == (True, False, False)


def test_without_a_verdict_the_files_decide():
    found = again(*recorded(passed=None))
    assert (found.same_verdict, found.is_same) == (None, True)


def test_words_that_differ_do_not_matter():
    trial, turns = recorded()
    found = again(trial, turns, FakeBench(more=" in 0.003 s"))
    assert found.is_same
    assert [one.matters for one in found.differences] == [False]


def test_what_is_chosen_are_the_trials_with_a_verdict_or_those_that_are_named():
    judged, cut = recorded(trial_id="a|mend|r1"), recorded(passed=None, trial_id="a|mend|r2")
    of = ledger(judged, cut)
    assert [trial.id for trial in chosen_trials(of, ())] == ["a|mend|r1"]
    assert [trial.id for trial in chosen_trials(of, ("a|mend|r2",))] == ["a|mend|r2"]
    with pytest.raises(UnknownName, match=r"did you mean `a\|mend\|r1`"):
        chosen_trials(of, ("a|mned|r1",))


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (ledger(), "the run has no agentic trial"),
        (ledger(recorded(), keeps=False), "kept no answers"),
        (ledger(recorded(passed=None)), "none of the run's 1 agentic trials has a verdict"),
    ],
)
def test_what_can_not_be_replayed_is_said(of, said):
    with pytest.raises(UsageFault, match=said):
        chosen_trials(of, ())


def test_calls_whose_texts_are_gone_can_not_be_replayed():
    trial, turns = recorded()
    blank = tuple(msgspec.structs.replace(c, arguments="", result="") for c in turns[0].calls)
    emptied = (msgspec.structs.replace(turns[0], calls=blank), *turns[1:])
    assert unreplayable(emptied)
    assert not unreplayable(turns)
    with pytest.raises(UsageFault, match=r"the calls of `a\|mend\|r1` were not kept"):
        chosen_trials(ledger((trial, emptied)), ())


def test_a_task_that_has_changed_or_gone_is_not_replayed():
    trial, turns = recorded()
    check_unchanged(ledger((trial, turns)), (trial,), {"mend": TASK})
    with pytest.raises(UsageFault, match="the text of task `mend` has changed since"):
        check_unchanged(ledger((trial, turns), text_hash="x"), (trial,), {"mend": TASK})
    with pytest.raises(UsageFault, match="there is no task `mend` any more"):
        check_unchanged(ledger((trial, turns)), (trial,), {})


def test_trials_are_replayed_one_after_another():
    trial, turns = recorded()
    (done,) = replay_trials(ledger((trial, turns)), (trial,), FakeBench(), FakeClock())
    assert done.trial is trial
    assert done.replayed.is_same
