from datetime import UTC, datetime, timedelta

import pytest

from bench.charges import Charge, Spend, by_target
from bench.ledger import collect
from bench.model.agent import AgentRun
from bench.model.header import Resumed
from bench.model.steps import Started, TrialDone, TurnDone
from bench.model.turn import TurnTrace
from bench.spending import dated_charges, summed
from tests.run_stage import ENVIRONMENT
from tests.sample_documents import FAST, PATH, SLOW, failure, header, ledger, response, trial

AGENT = AgentRun(
    stop_reason="no_tool_calls",
    turns=3,
    tool_calls=0,
    invalid_calls=0,
    repeated_calls=0,
    self_verified=False,
    wall_ms=1.0,
    model_ms=1.0,
    tool_ms=0.0,
    own_ms=0.0,
    tree_hash="h",
)


def charge(usd, source, target_id="t"):
    return Charge(
        trial_id="t|c|r1", attempt=1, target_id=target_id, offset_ms=0.0, usd=usd, source=source
    )


def test_a_sum_says_who_said_what_and_leaves_the_unknown_out():
    spend = Spend.of(
        [
            charge(0.5, "gateway"),
            charge(0.25, "gateway"),
            charge(0.125, "reserve"),
            charge(0.0, "unbilled"),
            charge(None, None),
        ]
    )
    assert spend == Spend(
        known_usd=0.875,
        unknown_requests=1,
        reserved_usd=0.125,
        by_source={"gateway": 0.75, "reserve": 0.125},
    )


def test_each_target_has_its_own_sum():
    spend = by_target([charge(0.5, "gateway", "a"), charge(0.25, "gateway", "b")])
    assert {name: each.known_usd for name, each in spend.items()} == {"a": 0.5, "b": 0.25}


@pytest.mark.parametrize(
    ("fields", "usd", "source"),
    [
        pytest.param(
            {"estimated_cost_usd": 0.5, "cost_source": "gateway"}, 0.5, "gateway", id="told"
        ),
        pytest.param(
            {"estimated_cost_usd": 0.5, "cost_source": None}, 0.5, "catalogue", id="old journal"
        ),
        pytest.param(
            {"estimated_cost_usd": None, "response": response(usage=None)},
            0.001,
            "reserve",
            id="no usage",
        ),
        pytest.param(
            {"estimated_cost_usd": None, "response": failure("http_429", status=429)},
            0.0,
            "unbilled",
            id="refused",
        ),
    ],
)
def test_a_trial_is_charged_what_is_known_else_its_reserve(fields, usd, source):
    (found,) = ledger((trial(FAST, PATH, 1, **fields),)).charges
    assert (found.usd, found.source) == (usd, source)
    assert found.response is not None


def test_a_lost_request_is_charged_its_reserve_and_one_without_a_bound_is_unknown():
    lost = ledger(
        (),
        Started(trial_id=f"{FAST.id}|{PATH.id}|r1", offset_ms=1.0, reserve_usd=0.25),
        Started(trial_id=f"{FAST.id}|{PATH.id}|r2", offset_ms=2.0, reserve_usd=None),
    )
    assert [(one.usd, one.source) for one in lost.charges] == [(0.25, "reserve"), (None, None)]
    assert (lost.known_spend_usd, lost.unknown_costs, lost.spent_usd) == (0.25, 1, None)


def test_a_request_that_was_asked_again_is_charged_twice():
    first = trial(FAST, PATH, 1, estimated_cost_usd=0.5, invalidated="gateway_killed")
    again = trial(FAST, PATH, 1, estimated_cost_usd=0.25)
    book = ledger((first, again))
    assert [one.usd for one in book.charges] == [0.5, 0.25]
    assert book.known_spend_usd == 0.75


def test_every_sum_of_a_run_is_a_sum_of_its_charges():
    book = ledger(
        (trial(FAST, PATH, 1, estimated_cost_usd=0.5), trial(SLOW, PATH, 1)), targets=(FAST, SLOW)
    )
    assert Spend.of(book.charges).known_usd == book.known_spend_usd
    assert by_target(book.charges) == dict(book.spend)


def test_a_resumed_run_s_charges_have_the_day_of_their_process():
    began = datetime.fromisoformat(header((FAST,), (PATH,)).started_at).astimezone(UTC)
    later = began + timedelta(days=2)
    early = trial(FAST, PATH, 1, estimated_cost_usd=0.5, started_offset_ms=1_000.0)
    late = trial(FAST, PATH, 2, estimated_cost_usd=0.25, started_offset_ms=10_500.0)

    book = collect(
        [
            header((FAST,), (PATH,)),
            TrialDone(trial=early),
            Resumed(at=later.isoformat(), offset_ms=10_000.0, environment=ENVIRONMENT),
            TrialDone(trial=late),
        ]
    )
    moments = [book.moment(one.offset_ms) for one in book.charges]
    assert moments == [began + timedelta(seconds=1), later + timedelta(milliseconds=500)]
    since_later = list(dated_charges(book, since=later))
    assert [one.charge.usd for one in since_later] == [0.25]
    until_later = list(dated_charges(book, since=began, until=later))
    assert [one.charge.usd for one in until_later] == [0.5]
    days = summed(dated_charges(book, since=began), lambda dated: dated.day)
    assert [(row.key, row.requests, row.spend.known_usd) for row in days] == [
        (began.date().isoformat(), 1, 0.5),
        (later.date().isoformat(), 1, 0.25),
    ]
    models = summed(dated_charges(book, since=began), lambda dated: dated.model_id)
    assert [(row.key, row.requests) for row in models] == [(FAST.model_id, 2)]


def turned(number, **money):
    turn = TurnTrace(
        number=number,
        response=response(),
        started_offset_ms=number * 10.0,
        answered_offset_ms=number * 10.0 + 5.0,
        model_ms=5.0,
        tool_ms=0.0,
        own_ms=0.0,
        **money,
    )
    return TurnDone(trial_id=f"{FAST.id}|{PATH.id}|r1", turn=turn)


def test_a_trial_of_many_requests_is_charged_turn_by_turn():
    whole = trial(FAST, PATH, 1, estimated_cost_usd=9.0, agent=AGENT)
    book = collect(
        [
            header((FAST,), (PATH,)),
            turned(1, cost_usd=0.5, cost_source="gateway", spent_usd=0.5, computed_cost_usd=0.25),
            turned(2, spent_usd=0.125),
            turned(3, spent_usd=None),
            TrialDone(trial=whole),
        ]
    )
    told = [(one.turn, one.usd, one.source, one.computed_usd) for one in book.charges]
    assert told == [
        (1, 0.5, "gateway", 0.25),
        (2, 0.125, "reserve", None),
        (3, None, None, None),
    ]
    assert (book.known_spend_usd, book.unknown_costs) == (0.625, 1)
