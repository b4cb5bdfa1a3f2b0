"""`--max-cost` in a whole run on fakes: whatever answers, cuts and delays come, the limit holds."""

import asyncio
import math
from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.charges import Spend
from bench.model.steps import Started
from bench.model.target import Prices
from bench.model.trial import Response, Usage
from tests.fakes import GOOD, Reply
from tests.run_stage import Stage, block, error

PRICES = Prices(input_usd=0.001, output_usd=0.01, source="catalogue")
RESERVE = 100 * 0.001 + 100 * 0.01
"""Of a request of 100 bytes that asks for 100 tokens at most."""
SLACK = 1e-9

WITHIN = st.builds(
    lambda prompt, completion: Response(
        status=200,
        content="FINAL: 42",
        usage=Usage(prompt_tokens=prompt, completion_tokens=completion),
    ),
    st.integers(0, 100),
    st.integers(0, 100),
)
"""What a provider answers within the bounds of the request."""
TOLD = st.builds(
    lambda cost: Response(status=200, content="FINAL: 42", usage=Usage(cost_usd=cost)),
    st.floats(0, RESERVE),
)
NO_USAGE = st.just(Response(status=200, content="FINAL: 42"))
HALF_A_USAGE = st.just(
    Response(status=200, content="FINAL: 42", usage=Usage(prompt_tokens=1, cost_usd=None))
)
BROKEN = st.sampled_from(
    [
        error("total_timeout", 200),
        error("idle_timeout", 200),
        error("connect_reset", 200),
        error("stream_incomplete", 200),
        error("http_503", 503),
        error("http_429", 429),
        error("connect_refused", None),
    ]
)
ANSWERS = st.lists(
    st.tuples(st.one_of(WITHIN, TOLD, NO_USAGE, HALF_A_USAGE, BROKEN), st.integers(0, 4)),
    min_size=1,
    max_size=25,
)


@dataclass
class Witness:
    """Recomputes from the journal, before each send, what the limit speaks of."""

    stage: Stage
    limit: float
    answers: list[tuple[Response, int]]
    most: float = 0.0

    def __call__(self, call):
        """Answer one call; called by the client at the moment of sending."""
        flying = sum(
            record.reserve_usd or 0.0
            for record in self.stage.journal.records
            if isinstance(record, Started)
        ) - sum(RESERVE for _ in self.stage.trials)
        spent = sum(
            (one.usd or 0.0)
            for one in self.stage.ledger().charges
            if one.trial_id in {trial.id for trial in self.stage.trials}
        )
        self.most = max(self.most, spent + flying)
        assert spent + flying <= self.limit + SLACK
        response, _ = self.answers[(len(self.stage.client.calls) - 1) % len(self.answers)]
        return Reply(response=response)


def slow(stage, answers):
    """Let each answer take some turns of the event loop, so that workers overtake each other."""
    send = stage.client.send

    async def later(call):
        number = len(stage.client.calls)
        sent = await send(call)
        for _ in range(answers[number % len(answers)][1]):
            await asyncio.sleep(0)
        return sent

    stage.client.send = later


@settings(max_examples=40)  # each is a whole run
@given(
    answers=ANSWERS,
    limit=st.floats(0.01, 12.0),
    workers=st.integers(1, 6),
    warmups=st.integers(0, 2),
)
def test_no_send_ever_takes_what_is_spent_and_reserved_above_the_limit(
    answers, limit, workers, warmups
):
    stage = Stage(
        block(runs=14, warmups=warmups, concurrency=workers), prices=PRICES, max_cost_usd=limit
    )
    witness = Witness(stage, limit, answers)
    stage.client.script = witness
    slow(stage, answers)
    end = stage.run()
    ledger = stage.ledger()
    assert ledger.unknown_costs == 0
    assert ledger.known_spend_usd <= limit + SLACK
    assert math.isclose(ledger.known_spend_usd, end.spent_usd or 0.0, abs_tol=SLACK)
    asked = {charge.trial_id for charge in ledger.charges}
    unsent = {entry.trial_id for entry in end.not_run}
    assert asked | unsent == {trial.id for one in stage.header.plan for trial in one.trials}
    assert not asked & unsent
    if unsent:
        assert end.reason == "max_cost"
        assert ledger.known_spend_usd + RESERVE > limit - SLACK


@settings(max_examples=15)
@given(excess=st.floats(1.0, 50.0), workers=st.integers(1, 5))
def test_the_total_passes_the_limit_only_by_what_is_billed_above_reserves(excess, workers):
    stage = Stage(block(runs=10, concurrency=workers), prices=PRICES, max_cost_usd=4.0)
    bill = RESERVE * excess
    answer = Response(status=200, content="FINAL: 42", usage=Usage(cost_usd=bill))
    stage.client.script = lambda _: Reply(response=answer)
    stage.run()
    sent = len(stage.client.calls)
    assert stage.ledger().known_spend_usd <= 4.0 + sent * (bill - RESERVE) + SLACK


def test_a_request_without_usage_counts_with_its_whole_reserve():
    stage = Stage(block(runs=9), prices=PRICES, max_cost_usd=3 * RESERVE)
    stage.client.script = lambda _: Reply(response=Response(status=200, content="FINAL: 42"))
    end = stage.run()
    assert (len(stage.client.calls), end.reason) == (3, "max_cost")
    assert Spend.of(stage.ledger().charges).by_source == {"reserve": pytest.approx(3 * RESERVE)}


def test_what_is_left_of_the_day_is_a_limit_too():
    stage = Stage(block(runs=9), prices=PRICES, max_cost_usd=100.0, day_allowance_usd=2 * RESERVE)
    stage.client.script = lambda _: Reply(response=Response(status=200, content="FINAL: 42"))
    end = stage.run()
    assert (len(stage.client.calls), end.reason, end.exit_code) == (2, "max_cost", 5)


def test_a_cancelled_request_counts_with_its_whole_reserve():
    stage = Stage(block(runs=3, concurrency=3), prices=PRICES, max_cost_usd=10.0)

    async def go():
        never = asyncio.Event()
        stage.client.script = lambda _: Reply(until=never)
        running = asyncio.ensure_future(stage._runner().run())
        await stage.client.until_in_flight(3)
        stage.control.interrupt(2)
        stage.control.interrupt(2)
        return await running

    asyncio.run(go())
    assert stage.ledger().known_spend_usd == pytest.approx(3 * RESERVE)


def test_a_cheaper_answer_lets_a_waiting_request_go():
    stage = Stage(block(runs=6, concurrency=6), prices=PRICES, max_cost_usd=1.5 * RESERVE)
    cheap = msgspec.structs.replace(GOOD, usage=Usage(prompt_tokens=1, completion_tokens=1))
    stage.client.script = lambda _: Reply(response=cheap)
    end = stage.run()
    assert (end.reason, stage.client.most_in_flight) == ("done", 1)
