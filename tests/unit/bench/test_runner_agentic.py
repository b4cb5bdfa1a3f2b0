"""Agentic trials under the run's gate: money, time, signals, deaths, and going on after each."""

import asyncio
import signal
from collections.abc import Callable

import msgspec
import pytest

from bench.errors import BenchError
from bench.model.case import Case, CaseInfo, ChatRequest, Instance
from bench.model.header import Resumed
from bench.model.steps import Started, TrialDone, TurnDone
from bench.model.surroundings import Incident
from bench.model.trial import Response, ResponseError
from bench.model.turn import TurnTrace
from bench.summary.agent import agent_summary
from tests.agent_stage import DONE, MEND, PROMPT, RUN, FakeBench, call, says
from tests.fakes import Reply
from tests.run_stage import CENTS, DEATH, ENVIRONMENT, Stage, block

LOOK = says(call("list_files"))
WORK = (LOOK, says(MEND, RUN), DONE)
INFO = CaseInfo(
    id="mend",
    name="Mend",
    kind="agentic",
    category="coding",
    dimension="python",
    difficulty="easy",
    runs=1,
    text_hash="h",
)
INSTANCE = Instance(
    request=ChatRequest(messages=PROMPT, max_tokens=100), expected=None, evaluate=None
)
CASE = Case(info=INFO, build=lambda seed: INSTANCE)
BROKEN = Response(
    status=500, error=ResponseError(code="http_500", seed_code="http_500", message="no", status=500)
)


class AgentStage(Stage):
    """A run of one agentic case whose model answers from a list, by the turn it is asked for."""

    def __init__(self, *answers, runs=1, verdict="files", turns=None, **options):
        self.answers = list(answers)
        super().__init__(block("a", "mend", runs), script=self._answer, **options)
        self.cases = {"mend": CASE}
        self.bench = self.workbench = FakeBench(self.clock, verdict=verdict)
        self.at_turn: dict[int, Callable[[], None]] = turns or {}

    def _answer(self, asked):
        number = 1 + sum(message.role == "assistant" for message in asked.request.messages)
        then = self.at_turn.get(number)
        return Reply(response=self.answers[min(number, len(self.answers)) - 1], then=then)

    def of_type(self, kind):
        return [record for record in self.journal.records if isinstance(record, kind)]

    def resumed(self, **options):
        """Return a stage that goes on with what this one wrote."""
        later = AgentStage(*self.answers, **options)
        resumed = Resumed(at="z", offset_ms=self.ledger().offset_ms, environment=ENVIRONMENT)
        later.header = self.header
        later.earlier = [*self.earlier, *self.journal.records, resumed]
        return later


def test_each_turn_is_noted_before_it_is_sent_and_recorded_before_the_next():
    stage = AgentStage(*WORK)
    end = stage.run()
    assert end.reason == "done"
    kinds = [type(record) for record in stage.journal.records]
    assert kinds == [Started, TurnDone] * 3 + [TrialDone]
    assert [record.turn for record in stage.of_type(Started)] == [1, 2, 3]
    (trial,) = stage.trials
    assert trial.agent.stop_reason == "no_tool_calls"
    assert trial.agent.sandbox_level == "full"
    assert trial.agent.tree_passed
    assert trial.agent.self_verified
    assert trial.evaluation.passed
    assert (trial.outcome, trial.invalidated) == ("completed", None)
    assert (trial.response.usage.prompt_tokens, trial.response.usage.completion_tokens) == (300, 30)
    assert trial.response.timing.total_ms == trial.agent.wall_ms


def test_the_tools_and_the_instructions_go_with_every_request():
    stage = AgentStage(*WORK)
    stage.run()
    for asked in stage.client.calls:
        names = [tool["function"]["name"] for tool in asked.request.tools or ()]
        assert names[-1] == "run_tests"
        assert asked.request.messages[0].role == "system"
        assert asked.tags == {"run": "run", "trial": "a|mend|r1"}


def test_what_is_wrong_is_not_solved():
    stage = AgentStage(LOOK, DONE)
    stage.run()
    assert stage.trials[0].evaluation.passed is False


def test_too_many_turns_are_a_failure_though_the_files_are_right():
    stage = AgentStage(says(MEND))
    stage.run()
    (trial,) = stage.trials
    assert trial.agent.stop_reason == "turn_limit"
    assert (trial.agent.tree_passed, trial.evaluation.passed) == (True, False)
    assert trial.evaluation.detail.startswith("ended by turn limit, though")


def test_without_a_sandbox_that_runs_there_is_no_verdict():
    stage = AgentStage(*WORK, verdict=None)
    stage.run()
    assert stage.trials[0].evaluation.passed is None


def test_a_failed_request_ends_the_trial_without_a_verdict():
    stage = AgentStage(LOOK, BROKEN)
    end = stage.run()
    (trial,) = stage.trials
    assert (trial.outcome, trial.agent.stop_reason) == ("failed", "upstream_error")
    assert (trial.evaluation, trial.invalidated) == (None, None)
    assert stage.bench.judged == []
    assert stage.ledger().missing == ()
    assert end.reason == "no_success"


# ---- cut between two turns -----------------------------------------------------------------------


def test_a_used_up_budget_cuts_between_two_turns_and_a_larger_one_goes_on():
    stage = AgentStage(*WORK, budget_ms=15.0)
    end = stage.run()
    assert (end.reason, end.exit_code) == ("budget", 0)
    (trial,) = stage.trials
    assert (trial.agent.stop_reason, trial.agent.turns, trial.agent.reusable_turns) == (
        "budget",
        2,
        2,
    )
    assert (trial.outcome, trial.invalidated, trial.evaluation) == ("cancelled", "budget", None)
    assert stage.ledger().budget_used_ms == {"a": 20.0}

    later = stage.resumed()
    later.header = msgspec.structs.replace(
        stage.header, config=msgspec.structs.replace(stage.header.config, budget_ms=None)
    )
    assert later.run().reason == "done"
    assert len(later.client.calls) == 1
    assert later.trials[0].agent.replayed_turns == 2
    assert later.trials[0].evaluation.passed


def test_a_budget_that_was_used_up_before_leaves_the_trial_as_it_was_recorded():
    stage = AgentStage(*WORK, budget_ms=15.0)
    stage.run()
    later = stage.resumed()
    end = later.run()
    assert later.client.calls == []
    assert later.of_type(TrialDone) == []
    assert [entry.reason for entry in end.not_run] == ["budget"]


def test_the_money_limit_is_asked_before_each_turn():
    # A turn reserves 1.1 and costs 0.2.
    stage = AgentStage(*WORK, prices=CENTS, max_cost_usd=1.4)
    end = stage.run()
    assert (end.reason, end.exit_code) == ("max_cost", 5)
    assert stage.trials[0].agent.stop_reason == "max_cost"
    assert stage.trials[0].agent.turns == 2
    assert end.spent_usd == pytest.approx(0.4)
    assert stage.ledger().spent_usd == pytest.approx(0.4)


def test_the_money_of_a_trial_is_counted_once_and_over_all_its_turns():
    stage = AgentStage(*WORK, prices=CENTS)
    end = stage.run()
    assert stage.trials[0].estimated_cost_usd == pytest.approx(0.6)
    assert end.spent_usd == pytest.approx(0.6)
    assert stage.ledger().spend["a"].known_usd == pytest.approx(0.6)
    assert stage.ledger().spend["a"].reserved_usd == 0.0


def test_a_first_signal_lets_the_turn_finish_and_ends_the_trial():
    stage = AgentStage(*WORK)
    stage.at_turn = {2: lambda: stage.control.interrupt(signal.SIGINT)}
    end = stage.run()
    assert (end.reason, end.exit_code) == ("interrupted", 130)
    (trial,) = stage.trials
    assert (trial.agent.stop_reason, trial.agent.turns) == ("interrupted", 2)
    assert trial.invalidated == "interrupted"
    later = stage.resumed()
    later.run()
    assert len(later.client.calls) == 1
    assert later.trials[0].evaluation.passed


def test_a_second_signal_cancels_the_request_and_the_turns_before_it_are_kept():
    stage = AgentStage(*WORK)
    hold, is_sent = asyncio.Event(), asyncio.Event()

    def held(asked):
        number = 1 + sum(message.role == "assistant" for message in asked.request.messages)
        if number == 2:
            is_sent.set()
        return Reply(response=WORK[number - 1], until=hold if number == 2 else None)

    stage.client.script = held

    async def go():
        running = asyncio.ensure_future(stage._runner().run())
        await is_sent.wait()
        stage.control.interrupt(signal.SIGINT)
        stage.control.interrupt(signal.SIGINT)
        return await running

    end = asyncio.run(go())
    assert end.reason == "interrupted"
    (trial,) = stage.trials
    assert (trial.agent.stop_reason, trial.outcome, trial.invalidated) == (
        "cancelled",
        "cancelled",
        "cancelled",
    )
    assert trial.agent.reusable_turns == 1
    later = stage.resumed()
    later.run()
    assert len(later.client.calls) == 2
    assert later.trials[0].evaluation.passed


# ---- deaths --------------------------------------------------------------------------------------


def cut_after(stage, count):
    """Leave only the first ``count`` records, as a kill of this process would."""
    del stage.journal.records[count:]


def test_a_kill_at_any_moment_loses_at_most_the_turn_in_flight():
    whole = AgentStage(*WORK, prices=CENTS)
    whole.run()
    for kept in range(len(whole.journal.records) + 1):
        stage = AgentStage(*WORK, prices=CENTS)
        stage.run()
        cut_after(stage, kept)
        turns = len(stage.of_type(TurnDone))
        open_request = len(stage.of_type(Started)) > turns
        later = stage.resumed()
        assert later.run().reason == "done"
        if kept == len(whole.journal.records):
            assert later.client.calls == []
            continue
        assert len(later.client.calls) == len(WORK) - turns
        (trial,) = later.trials
        assert trial.evaluation.passed
        assert trial.agent.turns == len(WORK)
        assert trial.agent.replayed_turns == turns
        assert trial.agent.tree_hash == whole.trials[0].agent.tree_hash
        ledger = later.ledger()
        assert [turn.number for turn in ledger.turns[trial.id]] == [1, 2, 3]
        assert len(ledger.possibly_billed) == open_request
        lost = 1.1 if open_request else 0.0
        assert ledger.spent_usd == pytest.approx(0.6 + lost)


def test_a_dead_gateway_ends_the_trial_and_a_turn_that_it_touched_is_asked_again():
    stage = AgentStage(*WORK)

    def dies():
        # It died while the second turn was on its way: what answered may be anything.
        stage.watch.ending = msgspec.structs.replace(DEATH, at_ns=stage.clock.now_ns() - 1_000_000)

    stage.at_turn = {2: dies}
    end = stage.run()
    assert (end.reason, end.exit_code) == ("gateway", 4)
    (trial,) = stage.trials
    assert (trial.agent.stop_reason, trial.invalidated) == ("incident", "gateway_killed")
    assert (trial.agent.turns, trial.agent.reusable_turns) == (2, 1)
    assert trial.evaluation is None
    later = stage.resumed()
    later.run()
    assert len(later.client.calls) == 2
    assert later.trials[0].agent.replayed_turns == 1
    assert [turn.number for turn in later.ledger().turns["a|mend|r1"]] == [1, 2, 3]


def test_a_trial_that_an_incident_is_found_to_have_touched_begins_anew():
    stage = AgentStage(*WORK)
    stage.run()
    late = Incident(
        incident_class="machine_slept", at="z", summary="slept", touched_trials=("a|mend|r1",)
    )
    stage.journal.records.append(late)
    later = stage.resumed()
    later.run()
    assert len(later.client.calls) == 3
    assert later.trials[0].agent.replayed_turns == 0


def test_answers_that_are_not_kept_can_not_be_gone_on_from():
    stage = AgentStage(*WORK, save_responses=False)
    stage.at_turn = {2: lambda: stage.control.interrupt(signal.SIGINT)}
    stage.run()
    for record in stage.of_type(TurnDone):
        assert record.turn.response.content == ""
        assert all(made.arguments == made.result == "" for made in record.turn.calls)
    assert stage.trials[0].agent.reusable_turns == 0
    killed = AgentStage(*WORK, save_responses=False)
    killed.run()
    cut_after(killed, 4)
    later = killed.resumed()
    later.run()
    assert len(later.client.calls) == 3


def test_a_full_disk_sends_nothing_further():
    stage = AgentStage(*WORK, room=3)
    end = stage.run()
    assert end.reason == "disk_full"
    assert len(stage.client.calls) == 2  # the third record notes the start of the second turn


def test_a_turn_whose_predecessor_was_lost_is_no_turn_to_go_on_from():
    stage = AgentStage(*WORK)
    stage.run()
    del stage.journal.records[1]  # a damaged line: the first turn
    cut_after(stage, 4)
    ledger = stage.ledger()
    assert ledger.recorded_turns == {}


def test_a_cut_trial_is_listed_and_outside_the_solve_rate():
    stage = AgentStage(*WORK, runs=3, budget_ms=35.0)
    stage.run()
    summary = agent_summary(stage.ledger().trials, {"mend": INFO})
    assert summary is not None
    assert (summary.scored, summary.solved, summary.solve_rate) == (1, 1, 1.0)
    assert summary.unscored == {"budget": 1}
    assert summary.stop_reasons == {"no_tool_calls": 1, "budget": 1}


def test_a_turn_trace_survives_the_journal():
    stage = AgentStage(*WORK)
    stage.run()
    for record in stage.of_type(TurnDone):
        assert msgspec.json.decode(msgspec.json.encode(record.turn), type=TurnTrace) == record.turn


def test_a_key_that_is_refused_at_the_first_turn_ends_the_run():
    refused = ResponseError(code="http_401", seed_code="http_401", message="no", status=401)
    stage = AgentStage(Response(status=401, error=refused), runs=3)
    end = stage.run()
    assert (end.reason, end.exit_code) == ("key_rejected", 2)
    assert len(stage.client.calls) == 1
    assert stage.trials[0].invalidated == "key_rejected"


def test_without_a_sandbox_no_agentic_trial_is_begun():
    stage = AgentStage(*WORK)
    stage.workbench = None
    with pytest.raises(ExceptionGroup) as caught:
        stage.run()
    assert caught.group_contains(BenchError, match="needs the sandbox")
    assert stage.client.calls == []
