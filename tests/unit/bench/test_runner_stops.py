import asyncio
import signal

import pytest

from bench.document import build_document
from bench.model.footer import Footer
from bench.model.header import Resumed
from bench.model.steps import Started
from bench.model.surroundings import Incident, Sample
from tests.fakes import Reply
from tests.run_stage import CENTS, DEATH, ENVIRONMENT, Stage, block, error

# ---- the gateway dies --------------------------------------------------------------------------


def test_a_notice_cancels_what_is_in_flight_and_sends_nothing_further():
    hold = asyncio.Event()
    stage = Stage(block(runs=4, concurrency=2), script=lambda _: Reply(until=hold))

    async def go():
        runner = stage._runner()
        running = asyncio.ensure_future(runner.run())
        await stage.client.until_in_flight(2)
        stage.watch.ending = DEATH
        runner.take_incident(DEATH)
        return await running

    end = asyncio.run(go())
    assert (end.reason, end.exit_code) == ("gateway", 4)
    assert stage.client.cancelled == 2
    assert [(t.outcome, t.invalidated) for t in stage.trials] == [
        ("cancelled", "gateway_killed")
    ] * 2
    assert [t.response.error.code for t in stage.trials if t.response.error] == ["gateway_died"] * 2
    assert [i.touched_trials for i in stage.incidents] == [("a|c|r1", "a|c|r2")]
    assert [n.reason for n in end.not_run] == ["gateway", "gateway"]
    assert len(stage.ledger().missing) == 4


def test_a_limit_of_the_client_s_own_machine_ends_the_run_and_is_no_figure_of_the_target():
    replies = iter([Reply(), Reply()])
    limited = Reply(response=error("client_limit", None))
    stage = Stage(block(runs=4), script=lambda _: next(replies, limited))

    async def sleep(seconds):
        stage.clock.advance(seconds * 1000)

    stage.sleep = sleep
    end = stage.run()
    assert (end.reason, end.exit_code) == ("client_limit", 5)
    assert [trial.invalidated for trial in stage.trials] == [None, None, "client_limit"]
    again = stage.ledger()
    assert [trial.run for trial in again.missing] == [3, 4]
    document = build_document(again)
    (target,) = document.summary.targets
    assert target.reliability.success is not None
    assert target.reliability.success.rate == 1.0
    assert target.reliability.errors_by_code == {}
    assert "1 request could not be sent: it broke." in document.trust[0].text


def test_a_failure_that_the_watcher_explains_is_the_gateways_and_ends_the_run():
    def dies():
        stage.watch.ending = DEATH

    stage = Stage(
        block(runs=3),
        script=lambda call: Reply(response=error("connect_reset", None), then=dies),
    )
    end = stage.run()
    (trial,) = stage.trials
    assert trial.invalidated == "gateway_killed"
    assert trial.response.error is not None
    assert trial.response.error.code == "gateway_died"
    assert trial.response.error.seed_code == "connect_reset"
    assert "killed by SIGKILL" in trial.response.error.message
    assert [i.touched_trials for i in stage.incidents] == [("a|c|r1",)]
    assert (end.reason, end.exit_code) == ("gateway", 4)


def test_a_death_between_two_trials_is_noticed_before_the_next_send():
    def dies():
        stage.watch.ending = DEATH

    stage = Stage(block(runs=3), script=lambda call: Reply(then=dies))
    end = stage.run()
    assert stage.client.asked == ["a|c|r1"]
    assert [t.invalidated for t in stage.trials] == [None]
    assert len(stage.incidents) == 1
    assert end.reason == "gateway"


def test_a_failure_recorded_before_a_late_notice_is_the_gateways_after_all():
    stage = Stage(block(runs=3))

    def script(call):
        late = Incident(
            incident_class="gateway_killed", at="z", at_ns=stage.clock.now_ns(), summary="s"
        )
        if call.tags["trial"] == "a|c|r2":
            return Reply(response=error("connect_reset", None), then=lambda: notices.append(late))
        return Reply()

    notices: list[Incident] = []

    def see(trial, purse):
        if trial.id == "a|c|r2":
            stage.watch.ending = notices[0]
            stage.runner.take_incident(notices[0])

    stage.client.script, stage.on_trial = script, see
    assert stage.run().reason == "gateway"
    assert [i.touched_trials for i in stage.incidents] == [("a|c|r2",)]
    assert [(t.id, t.invalidated) for t in stage.ledger().trials] == [
        ("a|c|r1", None),
        ("a|c|r2", "gateway_killed"),
    ]


def test_an_explanation_that_does_not_end_the_gateway_invalidates_one_trial():
    hung = Incident(incident_class="gateway_draining_or_hung", at="z", summary="it hangs")

    def script(call):
        is_first = call.tags["trial"] == "a|c|r1"
        return Reply(response=error("idle_timeout", None)) if is_first else Reply()

    stage = Stage(block(runs=2), script=script)
    stage.watch.explanations = {"a|c|r1": hung}
    end = stage.run()
    assert [t.invalidated for t in stage.trials] == ["gateway_draining_or_hung", None]
    assert end.reason == "set_aside"
    assert stage.watch.asked == ["a|c|r1"]


def test_a_failure_that_nobody_explains_is_the_providers():
    stage = Stage(block(runs=1), script=lambda _: Reply(response=error()))
    stage.run()
    assert stage.watch.asked == ["a|c|r1"]
    assert stage.incidents == []
    assert stage.trials[0].invalidated is None


def test_an_incident_that_ends_nothing_is_noted_once_and_samples_are_kept():
    stage = Stage(block(runs=1))
    lost = Incident(incident_class="watcher_lost", at="z", summary="s")
    sample = Sample(at_ns=1, values={"cpu": 1.0})

    async def go():
        runner = stage._runner()
        runner.take_incident(lost)
        runner.take_incident(lost)
        runner.take_sample(sample)
        return await runner.run()

    assert asyncio.run(go()).reason == "done"
    assert stage.incidents == [lost]
    assert sample in stage.journal.records


def test_a_sleep_sets_aside_what_was_on_its_way_and_the_run_goes_on():
    hold = asyncio.Event()
    stage = Stage(
        block(runs=4, concurrency=2),
        script=lambda call: Reply(until=hold) if call.tags["trial"] == "a|c|r2" else Reply(),
    )
    told: list[Incident] = []

    async def go():
        runner = stage._runner(on_incident=told.append)
        running = asyncio.ensure_future(runner.run())
        while len(stage.trials) < 3:  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0)
        now_ns = stage.clock.now_ns()
        # The third answer came after the machine had slept, the first two before.
        since_ns = now_ns - 5_000_000
        slept = Incident(
            incident_class="machine_slept", at="z", at_ns=now_ns, since_ns=since_ns, summary="s"
        )
        runner.take_incident(slept)
        hold.set()
        return await running

    end = asyncio.run(go())
    assert end.reason == "set_aside"
    assert stage.client.cancelled == 0
    assert [i.touched_trials for i in stage.incidents] == [("a|c|r4", "a|c|r2")]
    assert told == stage.incidents
    marks = {t.id: t.invalidated for t in stage.ledger().trials}
    assert marks == {
        "a|c|r1": None,
        "a|c|r2": "machine_slept",
        "a|c|r3": None,
        "a|c|r4": "machine_slept",
    }
    assert {t.id for t in stage.ledger().missing} == {"a|c|r2", "a|c|r4"}


def test_a_note_that_touches_nothing_leaves_what_is_on_its_way_alone():
    hold = asyncio.Event()
    stage = Stage(block(runs=1), script=lambda _: Reply(until=hold))

    async def go():
        runner = stage._runner()
        running = asyncio.ensure_future(runner.run())
        await stage.client.until_in_flight(1)
        runner.take_incident(Incident(incident_class="disk_low", at="z", summary="s"))
        hold.set()
        return await running

    assert asyncio.run(go()).reason == "done"
    assert [t.invalidated for t in stage.trials] == [None]
    assert [i.touched_trials for i in stage.incidents] == [()]


# ---- the key, the disk, the user ---------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_refused_at_the_first_answer_stops_the_run_and_is_asked_again_later(status):
    stage = Stage(block(runs=3), script=lambda _: Reply(response=error(f"http_{status}", status)))
    end = stage.run()
    assert stage.client.asked == ["a|c|r1"]
    assert (end.reason, end.exit_code) == ("key_rejected", 2)
    assert end.refusal is not None
    assert end.refusal.status == status
    assert len(stage.ledger().missing) == 3


def test_a_refusal_after_a_good_answer_is_a_failed_trial():
    def script(call):
        is_first = call.tags["trial"] == "a|c|r1"
        return Reply() if is_first else Reply(response=error("http_401", 401))

    stage = Stage(block(runs=3), script=script)
    end = stage.run()
    assert len(stage.trials) == 3
    assert (end.reason, end.refusal) == ("done", None)


@pytest.mark.parametrize("status", [400, 500])
def test_other_statuses_say_nothing_about_the_key(status):
    script = lambda _: Reply(response=error(f"http_{status}", status))  # noqa: E731
    stage = Stage(block(runs=2), script=script)
    assert stage.run().refusal is None
    assert len(stage.trials) == 2


def test_a_full_disk_stops_the_run_before_the_next_send():
    stage = Stage(block(runs=3), room=2)
    end = stage.run()
    assert stage.client.asked == ["a|c|r1"]
    assert (end.reason, end.exit_code) == ("disk_full", 5)
    assert end.fault is not None
    assert [n.reason for n in end.not_run] == ["disk_full", "disk_full"] or len(end.not_run) == 1


def test_one_ctrl_c_lets_what_is_in_flight_finish():
    stage = Stage(block(runs=3))
    stage.client.script = lambda _: Reply(then=lambda: stage.control.interrupt(signal.SIGINT))
    end = stage.run()
    assert [(t.id, t.outcome) for t in stage.trials] == [("a|c|r1", "completed")]
    assert (end.reason, end.exit_code) == ("interrupted", 130)
    assert [n.reason for n in end.not_run] == ["interrupted"] * 2


def test_two_ctrl_c_cancel_what_is_in_flight():
    hold = asyncio.Event()
    stage = Stage(block(runs=3, concurrency=2), script=lambda _: Reply(until=hold))

    async def go():
        running = asyncio.ensure_future(stage._runner().run())
        await stage.client.until_in_flight(2)
        stage.control.interrupt(signal.SIGINT)
        stage.control.interrupt(signal.SIGINT)
        return await running

    end = asyncio.run(go())
    assert (end.reason, end.exit_code) == ("interrupted", 130)
    assert [(t.outcome, t.invalidated) for t in stage.trials] == [("cancelled", "cancelled")] * 2
    assert [t.response.error.code for t in stage.trials if t.response.error] == ["cancelled"] * 2
    assert all(t.sent_at_ns is None for t in stage.trials)


def test_a_worker_that_is_torn_down_takes_its_request_along():
    hold = asyncio.Event()
    stage = Stage(block(runs=1), script=lambda _: Reply(until=hold))

    async def go():
        running = asyncio.ensure_future(stage._runner().run())
        await stage.client.until_in_flight(1)
        running.cancel()
        await asyncio.wait({running})
        await asyncio.sleep(0)
        return running.cancelled()

    assert asyncio.run(go())
    assert stage.client.cancelled == 1


# ---- going on ----------------------------------------------------------------------------------


def test_a_resumed_run_asks_only_what_is_missing_and_its_clocks_go_on():
    first = Stage(block(runs=4), prices=CENTS)
    first.client.script = lambda _: Reply(then=lambda: first.control.interrupt(signal.SIGTERM))
    assert first.run().exit_code == 143
    second = Stage(block(runs=4), prices=CENTS, budget_ms=30.0)
    second.earlier = [
        *first.journal.records,
        Started(trial_id="a|c|r2", offset_ms=10.0, reserve_usd=0.5),
        Resumed(at="z", offset_ms=10.0, environment=ENVIRONMENT),
    ]
    end = second.run()
    assert second.client.asked == ["a|c|r2", "a|c|r3"]
    starts = [r for r in second.journal.records if isinstance(r, Started)]
    assert [(s.trial_id, s.attempt, s.offset_ms) for s in starts] == [
        ("a|c|r2", 2, 10.0),
        ("a|c|r3", 1, 20.0),
    ]
    assert end.budget_used_ms == {"a": 30.0}
    assert end.spent_usd == pytest.approx(0.06 * 3 + 0.5)
    assert end.reason == "budget"


def test_going_on_with_a_complete_run_sends_nothing():
    first = Stage(block(runs=2))
    first.run()
    second = Stage(block(runs=2))
    second.earlier = [
        *first.journal.records,
        Footer(finished_at="z", offset_ms=20.0, reason="done", exit_code=0),
    ]
    assert second.run().reason == "done"
    assert second.client.asked == []
