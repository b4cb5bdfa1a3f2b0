import gc

import pytest

from bench.errors import JournalUnreadable
from bench.ledger import collect
from bench.model.blocks import Block, PlannedTrial
from bench.model.footer import Footer
from bench.model.header import Environment, Header, Resumed
from bench.model.run_config import RunConfig
from bench.model.steps import Started, TrialDone
from bench.model.surroundings import Gateway, Incident, Sample
from bench.model.target import Target
from bench.model.trial import Response, ResponseError, Trial

ENVIRONMENT = Environment(tool_version="0", python="3.11", host="h", system="Linux")


def header(*ids):
    trials = tuple(
        PlannedTrial(id=i, target_id=i.split("|")[0], case_id="c", run=n, seed=n)
        for n, i in enumerate(ids, start=1)
    )
    return Header(
        run_id="r",
        started_at="2026-01-01T00:00:00.000Z",
        stem="s",
        config=RunConfig(model_ids=("m",), url="http://127.0.0.1:1/v1/chat/completions"),
        targets=(Target(id="a", model="m", model_id="m", display_name="m"),),
        cases=(),
        plan=(Block(target_id="a", case_id="c", alone=False, concurrency=1, trials=trials),),
        plan_hash="p",
        environment=ENVIRONMENT,
    )


def started(trial_id, at=0.0, attempt=1, reserve=None):
    return Started(trial_id=trial_id, attempt=attempt, offset_ms=at, reserve_usd=reserve)


def done(trial_id, start=0.0, end=10.0, *, attempt=1, cost=0.0, error=None, invalidated=None):  # noqa: PLR0913 - a record has many fields
    response = Response(
        error=ResponseError(code=error, seed_code="request_error", message="m") if error else None
    )
    return TrialDone(
        attempt=attempt,
        trial=Trial(
            id=trial_id,
            target_id=trial_id.split("|")[0],
            case_id="c",
            run=1,
            seed=1,
            started_offset_ms=start,
            finished_offset_ms=end,
            outcome="failed" if error else "completed",
            response=response,
            estimated_cost_usd=cost,
            invalidated=invalidated,
        ),
    )


def footer(at=99.0):
    return Footer(finished_at="z", offset_ms=at, reason="done", exit_code=0)


def resumed(at):
    return Resumed(at="z", offset_ms=at, environment=ENVIRONMENT)


def incident(*touched, incident_class="gateway_killed"):
    return Incident(
        incident_class=incident_class, at="z", summary="s", touched_trials=tuple(touched)
    )


@pytest.mark.parametrize(
    "records", [pytest.param([], id="empty"), pytest.param([footer()], id="no header")]
)
def test_a_journal_begins_with_a_header(records):
    with pytest.raises(JournalUnreadable, match="does not begin with a header"):
        collect(records)


def test_trials_come_in_plan_order_whatever_order_they_ended_in():
    ledger = collect([header("a|c|r1", "a|c|r2"), done("a|c|r2"), done("a|c|r1")])
    assert [trial.id for trial in ledger.trials] == ["a|c|r1", "a|c|r2"]
    assert ledger.missing == ()


def test_a_trial_that_no_plan_knows_is_kept_at_the_end():
    ledger = collect([header("a|c|r1"), done("a|c|x"), done("a|c|r1")])
    assert [trial.id for trial in ledger.trials] == ["a|c|r1", "a|c|x"]


def test_the_last_record_counts_in_figures_and_all_of_them_in_spend():
    ledger = collect(
        [
            header("a|c|r1"),
            started("a|c|r1"),
            done("a|c|r1", cost=0.25, invalidated="gateway_killed"),
            resumed(10),
            started("a|c|r1", at=10, attempt=2),
            done("a|c|r1", 10, 20, attempt=2, cost=0.5),
        ]
    )
    assert [trial.invalidated for trial in ledger.trials] == [None]
    assert [trial.estimated_cost_usd for trial in ledger.superseded] == [0.25]
    assert ledger.spent_usd == 0.75
    assert ledger.attempts == {"a|c|r1": 2}


def test_a_start_without_an_end_is_possibly_billed_with_its_reserve():
    ledger = collect([header("a|c|r1"), started("a|c|r1", at=3, reserve=0.125)])
    assert [start.trial_id for start in ledger.possibly_billed] == ["a|c|r1"]
    assert [trial.id for trial in ledger.missing] == ["a|c|r1"]
    assert ledger.spent_usd == 0.125
    assert ledger.attempts == {"a|c|r1": 1}


def test_a_lost_start_stays_possibly_billed_after_its_trial_was_asked_again():
    ledger = collect(
        [
            header("a|c|r1"),
            started("a|c|r1", reserve=0.125),
            resumed(0),
            started("a|c|r1", attempt=2, reserve=0.125),
            done("a|c|r1", attempt=2, cost=0.0625),
        ]
    )
    assert len(ledger.possibly_billed) == 1
    assert ledger.spent_usd == 0.1875
    assert ledger.missing == ()


def test_an_answer_without_usage_costs_its_reserve():
    records = [header("a|c|r1"), started("a|c|r1", reserve=0.5)]
    ledger = collect([*records, done("a|c|r1", cost=None, error="total_timeout")])
    assert ledger.spent_usd == 0.5


def test_an_unknown_cost_makes_the_total_unknown_but_not_what_is_known():
    ledger = collect(
        [
            header("a|c|r1", "a|c|r2"),
            started("a|c|r1"),
            done("a|c|r1", cost=None),
            started("a|c|r2"),
            done("a|c|r2", cost=0.5),
        ]
    )
    assert ledger.spent_usd is None
    assert (ledger.known_spend_usd, ledger.unknown_costs) == (0.5, 1)


def test_the_reserves_of_an_attempts_turns_add_up_and_one_unknown_is_unknown():
    turns = [started("a|c|r1", reserve=0.25), started("a|c|r1", reserve=0.25)]
    lost = done("a|c|r1", cost=None, error="idle_timeout")
    assert collect([header("a|c|r1"), *turns, lost]).spent_usd == 0.5
    assert collect([header("a|c|r1"), *turns, started("a|c|r1"), lost]).spent_usd is None


def test_an_invalidated_trial_is_missing():
    ledger = collect([header("a|c|r1"), done("a|c|r1", invalidated="cancelled")])
    assert [trial.id for trial in ledger.missing] == ["a|c|r1"]


def test_a_failed_trial_is_a_result_and_not_missing():
    assert collect([header("a|c|r1"), done("a|c|r1", error="http_500")]).missing == ()


def test_an_incident_found_out_later_invalidates_what_it_touched():
    ledger = collect(
        [
            header("a|c|r1", "a|c|r2"),
            done("a|c|r1"),
            incident("a|c|r1", "a|c|r2", incident_class="gateway_replaced"),
            done("a|c|r2"),
        ]
    )
    assert [trial.invalidated for trial in ledger.trials] == ["gateway_replaced", None]
    assert [trial.id for trial in ledger.missing] == ["a|c|r1"]


def test_the_budget_clock_is_the_union_of_a_targets_intervals():
    ledger = collect(
        [header("a|c|r1"), done("a|c|r1", 0, 100), done("a|c|r2", 50, 150), done("b|c|r1", 0, 40)]
    )
    assert ledger.budget_used_ms == {"a": 150, "b": 40}


def test_a_lost_request_ran_until_the_last_thing_its_process_recorded():
    ledger = collect(
        [
            header("a|c|r1", "a|c|r2"),
            started("a|c|r1", at=10),
            started("a|c|r2", at=10),
            done("a|c|r2", 10, 60),
            resumed(60),
            footer(500),
        ]
    )
    assert ledger.budget_used_ms == {"a": 50}


def test_a_start_that_the_plan_does_not_know_has_no_clock():
    ledger = collect([header("a|c|r1"), started("b|c|r1", at=10), footer(50)])
    assert ledger.budget_used_ms == {}
    assert len(ledger.possibly_billed) == 1


def test_offsets_go_on_from_the_end_of_what_was_recorded():
    assert collect([header("a|c|r1"), done("a|c|r1", 0, 80), started("a|c|r1", 70)]).offset_ms == 80
    assert collect([header("a|c|r1"), footer(120)]).offset_ms == 120


def test_the_last_gateway_and_footer_win_and_a_resumed_run_has_no_end_yet():
    first, second = Gateway(ready_after_ms=1.0), Gateway(ready_after_ms=2.0)
    ledger = collect([header("a|c|r1"), first, footer(1), second, footer(2)])
    assert ledger.gateway == second
    assert ledger.footer is not None
    assert ledger.footer.offset_ms == 2
    assert collect([header("a|c|r1"), footer(1), resumed(1)]).footer is None


def test_samples_damage_and_foreign_headers_do_not_disturb():
    sample = Sample(at_ns=1, values={"cpu": 0.5})
    ledger = collect([header("a|c|r1"), sample, header("b|c|r1")], damaged_lines=3)
    assert ledger.samples == (sample,)
    assert ledger.damaged_lines == 3
    assert ledger.header.plan[0].trials[0].id == "a|c|r1"


def test_no_collection_walks_through_the_records_of_a_long_run():
    record = done("a|c|r1")
    assert not gc.is_tracked(record)
    assert not gc.is_tracked(record.trial.response)
