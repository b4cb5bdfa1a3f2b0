import asyncio
import errno

import pytest

from bench.client.dial_failure import own_limit
from bench.document import build_document
from bench.model.steps import AttemptRefused, Started, TrialDone
from bench.model.trial import Response, ResponseError
from bench.runner.retrying import LONGEST_WAIT_MS
from bench.summary.reliability import reliability
from tests.fakes import Reply
from tests.run_stage import CENTS, Stage, block, error


def limited(after_ms=None, takes_ms=10.0, **changes):
    fault = ResponseError(
        code="rate_limited",
        seed_code="http_429",
        message="HTTP 429: slow down",
        status=429,
        retry_after_ms=after_ms,
    )
    return Reply(response=Response(status=429, error=fault, **changes), takes_ms=takes_ms)


class Napping(Stage):
    naps: list[float]


def stage(*replies, blocks=None, **config):
    """A run whose answers come in the order of ``replies``; waiting moves its clock."""
    queue = list(replies)
    made = Napping(*(blocks or [block(runs=1)]), script=lambda _: queue.pop(0), **config)
    made.naps = []

    async def sleep(seconds):
        made.naps.append(seconds)
        made.clock.advance(seconds * 1000)
        await asyncio.sleep(0)

    made.sleep = sleep
    return made


def kinds(made):
    kept = (Started, AttemptRefused, TrialDone)
    return [type(r).__name__ for r in made.journal.records if isinstance(r, kept)]


def test_without_the_option_a_refusal_is_the_result():
    made = stage(limited(1000))
    made.run()
    (trial,) = made.trials
    assert trial.response.error.code == "rate_limited"
    assert trial.refusals == ()
    assert made.naps == []
    assert kinds(made) == ["Started", "TrialDone"]


def test_a_refused_request_is_sent_again_when_the_server_said():
    made = stage(limited(2500), Reply(takes_ms=10), retry_429=1)
    end = made.run()
    (trial,) = made.trials
    assert (trial.response.error, end.reason) == (None, "done")
    (refusal,) = trial.refusals
    assert (refusal.attempt, refusal.wait_ms) == (1, 2500)
    assert refusal.finished_offset_ms - refusal.started_offset_ms == pytest.approx(10)
    assert trial.started_offset_ms - refusal.finished_offset_ms == pytest.approx(2500)
    assert kinds(made) == ["Started", "AttemptRefused", "Started", "TrialDone"]
    assert [r.attempt for r in made.journal.records if isinstance(r, Started)] == [1, 2]
    assert max(made.naps) <= 0.5


def test_without_a_word_of_the_server_waits_double():
    made = stage(*[limited()] * 6, Reply(), retry_429=7)
    made.run()
    waits = [refusal.wait_ms for refusal in made.trials[0].refusals]
    assert waits == [1000, 2000, 4000, 8000, 16000, 30000]


def test_after_the_last_retry_the_refusal_stands():
    made = stage(*[limited(100)] * 3, retry_429=2)
    made.run()
    (trial,) = made.trials
    assert trial.response.error.code == "rate_limited"
    assert [refusal.attempt for refusal in trial.refusals] == [1, 2]
    assert made.ledger().attempts == {"a|c|r1": 3}


def test_who_asks_for_too_long_a_wait_is_not_asked_again():
    made = stage(limited(LONGEST_WAIT_MS + 1), retry_429=5)
    made.run()
    assert made.trials[0].response.error.retry_after_ms == LONGEST_WAIT_MS + 1
    assert made.naps == []


def test_other_errors_are_not_asked_again():
    made = stage(Reply(response=error()), retry_429=5)
    made.run()
    assert len(made.client.calls) == 1


def test_the_budget_counts_attempts_and_not_waits():
    made = stage(limited(60_000, takes_ms=30), Reply(takes_ms=40), retry_429=1)
    end = made.run()
    assert end.budget_used_ms == {"a": pytest.approx(70)}
    assert made.ledger().budget_used_ms == {"a": pytest.approx(70)}


def test_a_spent_budget_ends_the_retries_with_the_refusal():
    made = stage(limited(100, takes_ms=30), retry_429=5, budget_ms=20)
    made.run()
    (trial,) = made.trials
    assert (trial.response.error.code, trial.refusals) == ("rate_limited", ())
    assert kinds(made) == ["Started", "AttemptRefused", "TrialDone"]
    (charge,) = made.ledger().charges
    assert (charge.usd, charge.source) == (0.0, "unbilled")


def test_a_stop_ends_the_wait():
    made = stage(limited(60_000), retry_429=5)

    async def stopping(seconds):
        made.control.interrupt(2)

    made.sleep = stopping
    end = made.run()
    assert (end.reason, len(made.client.calls)) == ("interrupted", 1)
    assert made.trials[0].response.error.code == "rate_limited"


def test_every_attempt_is_paid_for_once():
    made = stage(limited(100), limited(100), Reply(), retry_429=5, prices=CENTS, max_cost_usd=2.0)
    end = made.run()
    ledger = made.ledger()
    assert end.spent_usd == pytest.approx(0.06) == ledger.spent_usd
    assert [(c.attempt, c.source) for c in ledger.charges] == [
        (1, "unbilled"),
        (2, "unbilled"),
        (3, "catalogue"),
    ]
    assert made.runner._trials.purse.open_reserves == 0


def test_a_refusal_that_the_gateway_bills_is_paid():
    made = stage(limited(100, gateway_cost_usd=0.5), Reply(), retry_429=1, prices=CENTS)
    assert made.run().spent_usd == pytest.approx(0.56)
    assert made.ledger().spent_usd == pytest.approx(0.56)


def test_money_that_waits_is_nobody_s():
    """While one waits to ask again, its reserve is free for others."""
    made = stage(
        limited(1000),
        Reply(),
        Reply(),
        blocks=[block(runs=2, concurrency=2)],
        retry_429=1,
        prices=CENTS,
        max_cost_usd=1.3,
    )
    assert made.run().reason == "done"
    assert len(made.trials) == 2


def test_a_kill_during_the_wait_leaves_the_trial_missing_and_its_refusal_known():
    made = stage(limited(100), Reply(), retry_429=2)
    made.run()
    records = made.journal.records
    cut = next(n for n, r in enumerate(records) if isinstance(r, AttemptRefused))
    again = stage(limited(100), Reply(), retry_429=2)
    again.earlier = records[: cut + 1]
    assert [trial.id for trial in again.ledger().missing] == ["a|c|r1"]
    again.run()
    (trial,) = again.trials
    assert [refusal.attempt for refusal in trial.refusals] == [1, 2]
    assert trial.response.error is None
    assert again.ledger().possibly_billed == ()


def test_a_kill_of_the_second_attempt_may_have_been_billed():
    made = stage(limited(100), Reply(), retry_429=1, prices=CENTS)
    made.run()
    records = [r for r in made.journal.records if not isinstance(r, TrialDone)]
    resumed = stage(prices=CENTS)
    resumed.earlier = records
    ledger = resumed.ledger()
    assert [start.attempt for start in ledger.possibly_billed] == [2]
    assert ledger.known_spend_usd == pytest.approx(1.1)


def test_reliability_counts_the_first_attempt_and_tells_of_the_rest():
    made = stage(limited(100), Reply(), Reply(), blocks=[block(runs=2)], retry_429=1)
    made.run()
    cases = {"c": made.cases["c"].info}
    found = reliability(made.trials, cases)
    assert (found.success_rate, found.rate_limit_rate) == (0.5, 0.5)
    assert found.errors_by_cause == {"rate_limited": 1}
    assert found.retried_requests == 1
    assert found.success_after_retries is not None
    assert found.success_after_retries.rate == 1.0


def test_nothing_sent_again_is_no_figure():
    made = stage(Reply(), retry_429=1)
    made.run()
    found = reliability(made.trials, {"c": made.cases["c"].info})
    assert (found.retried_requests, found.success_after_retries) == (0, None)


def test_a_full_disk_ends_the_retries():
    made = stage(limited(100), retry_429=5)
    made.journal.room = 1
    end = made.run()
    assert end.reason == "disk_full"
    assert len(made.client.calls) == 1


def test_a_target_that_stalls_does_not_hold_all_the_places():
    stalled = asyncio.Event()
    blocks = [block(name, f"c{n}", runs=1) for n in range(4) for name in ("slow", "fast")]
    fast = [one for one in blocks if one.target_id == "fast"]
    answered: list[str] = []

    def script(call):
        if call.target.id == "slow":
            return Reply(until=stalled)
        answered.append(call.tags["trial"])
        # The slow target answers only once the fast one has been asked everything.
        return Reply(then=stalled.set if len(answered) == len(fast) else None)

    made = Stage(*blocks, script=script, parallel_groups=2)
    assert made.run().reason == "done"
    assert len(made.trials) == 8
    assert made.client.asked[:5] == [
        "slow|c0|r1",
        "fast|c0|r1",
        "fast|c1|r1",
        "fast|c2|r1",
        "fast|c3|r1",
    ]


# ---- what this machine itself refuses ------------------------------------------------------------


def held_back():
    return Reply(response=error("client_limit", None), takes_ms=1.0)


def test_what_this_machine_refuses_for_a_while_waits_and_is_sent_then():
    made = stage(Reply(), held_back(), held_back(), Reply(takes_ms=10), blocks=[block(runs=2)])
    end = made.run()
    _, trial = made.trials
    assert (end.reason, trial.invalidated, trial.response.error) == ("done", None, None)
    assert [refusal.wait_ms for refusal in trial.refusals] == [1000, 2000]
    assert trial.finished_offset_ms - trial.started_offset_ms == pytest.approx(10)
    ledger = made.ledger()
    assert ledger.known_spend_usd == 0
    document = build_document(ledger)
    (told,) = (caveat for caveat in document.trust if caveat.code == "client_waited")
    assert told.level == "note"
    assert told.text.startswith("1 request waited up to 3 s before being sent: it broke.")
    summary = document.summary.targets[0].reliability
    assert (summary.success_rate, summary.retried_requests) == (1.0, 0)
    assert summary.success_after_retries is None


NO_PORT = own_limit(OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address"))
NO_FILE = own_limit(OSError(errno.EMFILE, "Too many open files"))


@pytest.mark.parametrize(
    ("refused", "waits"),
    [
        pytest.param(NO_PORT, {"for a local port": 1}, id="port"),
        pytest.param(NO_FILE, {"for a limit of this machine": 1}, id="another limit"),
        pytest.param(None, {"for another try (HTTP 429)": 1}, id="the endpoint"),
    ],
)
def test_who_waits_is_counted_for_the_display_while_it_waits(refused, waits):
    reply = limited(100)
    if refused is not None:
        fault = ResponseError(
            code=refused.code, seed_code=refused.code, message=refused.message, status=None
        )
        reply = Reply(response=Response(error=fault), takes_ms=1.0)
    made = stage(Reply(), reply, Reply(), blocks=[block(runs=2)], retry_429=1)
    napping, seen = made.sleep, []

    async def sleep(seconds):
        seen.append(dict(made.control.waits))
        await napping(seconds)

    made.sleep = sleep
    assert made.run().reason == "done"
    assert seen
    assert all(one == waits for one in seen)
    assert made.control.waits.total() == 0


def test_what_this_machine_refuses_for_good_ends_the_run_after_75_seconds():
    made = stage(Reply(), *[held_back() for _ in range(9)], blocks=[block(runs=3)])
    end = made.run()
    assert (end.reason, end.exit_code) == ("client_limit", 5)
    assert sum(made.naps) == pytest.approx(75.0)
    assert [trial.invalidated for trial in made.trials] == [None, "client_limit"]
    assert [trial.run for trial in made.ledger().missing] == [2, 3]


def test_where_nobody_ever_answered_this_machine_s_refusal_ends_the_run_at_once():
    made = stage(held_back(), blocks=[block(runs=3)])
    end = made.run()
    assert (end.reason, made.naps) == ("client_limit", [])


def test_this_machine_s_refusals_are_none_of_the_retries_that_were_allowed():
    made = stage(Reply(), held_back(), limited(100), Reply(), blocks=[block(runs=2)], retry_429=1)
    end = made.run()
    _, trial = made.trials
    assert (end.reason, trial.response.error) == ("done", None)
    assert [one.error.code for one in trial.refusals] == ["client_limit", "rate_limited"]
    (target,) = build_document(made.ledger()).summary.targets
    assert (target.reliability.success_rate, target.reliability.retried_requests) == (0.5, 1)


def test_a_resumed_run_waits_anew_for_what_this_machine_refused_before():
    made = stage(Reply(), *[held_back() for _ in range(9)], blocks=[block(runs=2)])
    made.run()
    plan = [block(case_id="b", runs=1), block(runs=2)]
    again = stage(Reply(), held_back(), Reply(), blocks=plan)
    again.earlier = [r for r in made.journal.records if getattr(r, "run_id", None) is None]
    end = again.run()
    assert end.reason == "done"
    waits = [refusal.wait_ms for refusal in again.trials[-1].refusals]
    assert (len(waits), waits[-1]) == (9, 1000)
