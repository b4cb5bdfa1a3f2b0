import asyncio
import json
import socket

import pytest

from bench.errors import UsageFault
from bench.link import JobLink, NoJob, Patience
from bench.model.surroundings import Gateway, Incident
from bench.model.trial import Response, ResponseError
from tests.fakes import FakeClock, ScriptedWatch
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.integration

HELLO = {
    "type": "hello",
    "runId": "r",
    "launch": {"preset": "demo"},
    "gateway": {"build": {"commit": "abc"}, "identity": {"pid": 7}, "events": [{"name": "ready"}]},
    "simulatedUpstream": True,
    "freeBecause": "the upstream is the simulator",
    "answerBook": "book.jsonl",
    "graceMs": 0,
}
RESET = Response(
    local_port=4242,
    error=ResponseError(code="connect_reset", seed_code="request_error", message="reset"),
)


class Job:
    """The job's end of the line, on a real socket pair."""

    def __init__(self):
        self.socket, theirs = socket.socketpair()
        self.socket.settimeout(PATIENCE_S)
        self.descriptor = theirs.detach()
        self.incidents, self.samples = [], []
        self.clock = FakeClock()
        self.patience = Patience(answer_s=PATIENCE_S, outcome_slack_s=PATIENCE_S)
        self.sides = {}
        self._heard = b""

    def say(self, *messages):
        self.socket.sendall(b"".join(json.dumps(m).encode() + b"\n" for m in messages))

    async def hear(self):
        loop = asyncio.get_running_loop()
        while b"\n" not in self._heard:
            self._heard += await loop.run_in_executor(None, self.socket.recv, 65_536)
        line, _, self._heard = self._heard.partition(b"\n")
        return json.loads(line)

    def accept(self):
        return JobLink.accept(
            self.descriptor,
            self.clock,
            patience=self.patience,
            clean=lambda text: text.replace("a-key", "[key]"),
        )

    async def opened(self, *extra):
        self.say(HELLO, *extra)
        link = self.accept()
        await link.open(
            on_incident=self.incidents.append, on_sample=self.samples.append, sides=self.sides
        )
        return link


@pytest.fixture
def job():
    made = Job()
    yield made
    made.socket.close()


def played(job, scene, *extra):
    async def go():
        link = await job.opened(*extra)
        try:
            return await scene(link)
        finally:
            await link.close()

    return asyncio.run(go())


async def until(condition):
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.001)


KILLED = {
    "type": "incident",
    "class": "gateway_killed",
    "atNs": 900_000_000,
    "summary": "killed by SIGKILL",
    "detail": {"signal": 9},
}


def test_hello_says_what_is_measured_and_why_it_is_free(job):
    job.say(HELLO)
    link = job.accept()
    assert link.hello.run_id == "r"
    assert link.hello.free_because == "the upstream is the simulator"
    assert link.hello.answer_book == "book.jsonl"
    record = link.hello.gateway.record(simulated_upstream=True)
    assert (record.build, record.identity) == ({"commit": "abc"}, {"pid": 7})
    assert record.simulated_upstream is True
    asyncio.run(link.close())


def test_a_descriptor_that_is_no_socket_is_named():
    with pytest.raises(UsageFault, match="`GWB_LINK_FD=987` names no socket"):
        JobLink.accept(987, FakeClock())


@pytest.mark.parametrize("said", [b"", b"half a line", b"no json\n"])
def test_a_job_that_says_no_hello_is_a_fault(job, said):
    job.socket.sendall(said)
    job.socket.shutdown(socket.SHUT_WR)
    with pytest.raises(UsageFault, match="no `hello` from the job"):
        job.accept()


def test_a_pushed_incident_is_fatal_at_once_and_carries_both_stamps(job):
    async def scene(link):
        assert link.fatal() is None
        job.say(KILLED, KILLED)
        await until(link.fatal)
        await asyncio.sleep(0.01)
        return link.fatal()

    incident = played(job, scene)
    assert job.incidents == [incident]
    assert incident.incident_class == "gateway_killed"
    assert (incident.at_ns, incident.noticed_ns) == (900_000_000, 1_000_000_000)
    assert incident.at == "2026-01-01T00:00:00.900Z"
    assert incident.detail == {"signal": 9}


def test_a_note_is_no_end_and_may_say_since_when_it_touched_what_was_in_flight(job):
    slept = {
        "type": "incident",
        "class": "machine_slept",
        "atNs": 900_000_000,
        "sinceNs": 800_000_000,
        "summary": "slept",
        "fatal": False,
    }
    low = {"type": "incident", "class": "disk_low", "atNs": 5, "fatal": False, "told": True}

    async def scene(link):
        job.say(slept, low)
        await until(lambda: len(job.incidents) == 2)
        assert link.fatal() is None
        return [link.is_told(one) for one in job.incidents]

    assert played(job, scene) == [False, True]
    assert [one.since_ns for one in job.incidents] == [800_000_000, None]


def test_what_the_job_says_right_after_hello_is_not_lost(job):
    async def scene(link):
        await until(lambda: job.samples and link.fatal())

    played(job, scene, {"type": "sample", "atNs": 5, "values": {"cpu": 0.5}}, KILLED)
    assert [s.values for s in job.samples] == [{"cpu": 0.5}]


def test_a_question_names_trial_code_and_port_and_gets_its_answer(job):
    async def scene(link):
        asking = asyncio.ensure_future(link.explain("a|c|r1", RESET))
        heard = await job.hear()
        job.say({"type": "answer", "id": heard["id"], "incident": None})
        return heard, await asking

    heard, answer = played(job, scene)
    assert heard == {
        "type": "ask",
        "id": 1,
        "trial": "a|c|r1",
        "code": "connect_reset",
        "localPort": 4242,
        "side": None,
    }
    assert answer is None


def test_an_answer_that_the_gateway_died_ends_the_run_too(job):
    async def scene(link):
        asking = asyncio.ensure_future(link.explain("a|c|r1", RESET))
        heard = await job.hear()
        death = {key: KILLED[key] for key in ("class", "atNs", "summary", "detail")}
        job.say({"type": "answer", "id": heard["id"], "incident": death})
        return await asking, link.fatal()

    answer, fatal = played(job, scene)
    assert answer is not None
    assert answer.incident_class == fatal.incident_class == "gateway_killed"
    assert job.incidents == [fatal]


def test_an_answer_that_ends_nothing_is_not_fatal(job):
    async def scene(link):
        asking = asyncio.ensure_future(link.explain("a|c|r1", RESET))
        heard = await job.hear()
        job.say({"type": "answer", "id": heard["id"] + 5, "incident": None})
        low = {"class": "disk_low", "summary": "little room"}
        job.say({"type": "answer", "id": heard["id"], "incident": low})
        return await asking, link.fatal()

    answer, fatal = played(job, scene)
    assert answer.incident_class == "disk_low"
    assert fatal is None


def test_no_answer_in_time_means_nobody_knows(job):
    job.patience = Patience(answer_s=0.05)

    async def scene(link):
        return await link.explain("a|c|r1", RESET)

    assert played(job, scene) is None


def test_measured_is_told_and_the_gateways_end_comes_back(job):
    async def scene(link):
        telling = asyncio.ensure_future(link.measured("done"))
        heard = await job.hear()
        job.say(
            {"type": "outcome", "gateway": {"exit": {"status": 0}, "readyAfterMs": 12.5}},
            {"type": "outcome", "gateway": {}},
        )
        return heard, await telling

    heard, gateway = played(job, scene)
    assert heard == {"type": "measured", "reason": "done"}
    only = Gateway(exit={"status": 0}, ready_after_ms=12.5, simulated_upstream=True)
    assert gateway == (only,)


def test_of_two_gateways_each_end_sample_and_question_has_its_side(job):
    async def scene(link):
        asking = asyncio.ensure_future(link.explain("b|c|s1r1", RESET))
        heard = await job.hear()
        job.say({"type": "answer", "id": heard["id"], "incident": None})
        await asking
        job.say({"type": "sample", "atNs": 1, "values": {"rssMb": 2.0}, "side": "changed"})
        telling = asyncio.ensure_future(link.measured("done"))
        await job.hear()
        ends = {"base": {"exit": {"code": 0}}, "changed": {"exit": {"code": 1}}}
        job.say({"type": "outcome", "gateway": ends["base"], "gateways": ends})
        return heard["side"], await telling

    job.sides = {"a": "base", "b": "changed"}
    side, gateways = played(job, scene)
    assert side == "changed"
    assert [(one.side, one.exit) for one in gateways] == [
        ("base", {"code": 0}),
        ("changed", {"code": 1}),
    ]
    assert [one.side for one in job.samples] == ["changed"]


def test_an_outcome_that_never_comes_is_given_up(job):
    job.patience = Patience(outcome_slack_s=0.05)

    async def scene(link):
        return await link.measured("done")

    assert played(job, scene) == ()


def test_the_death_of_the_job_is_noted_and_the_run_goes_on(job):
    async def scene(link):
        asking = asyncio.ensure_future(link.explain("a|c|r1", RESET))
        await job.hear()
        job.socket.close()
        answer = await asking
        return (
            answer,
            link.fatal(),
            await link.explain("a|c|r2", RESET),
            await link.measured("done"),
        )

    assert played(job, scene) == (None, None, None, ())
    assert [i.incident_class for i in job.incidents] == ["watcher_lost"]


def test_lines_that_mean_nothing_are_passed_over(job):
    async def scene(link):
        job.socket.sendall(b"no json\n")
        job.say({"type": "unheard-of"}, {"type": "sample"}, {"type": "incident"}, KILLED)
        await until(link.fatal)

    played(job, scene)
    assert job.samples == []
    assert len(job.incidents) == 1


def test_the_journals_path_is_told_as_soon_as_it_exists(job, tmp_path):
    async def scene(link):
        link.journal_created(tmp_path / "run.jsonl")
        return await job.hear()

    assert played(job, scene) == {"type": "journal", "path": str(tmp_path / "run.jsonl")}


# ---- the contract of a watch, held by link, null object and fake -------------------------------


@pytest.mark.parametrize("kind", ["link", "fake", "none"])
def test_a_watch_that_knows_nothing_says_nothing(kind, job):
    async def scene(watch):
        asking = asyncio.ensure_future(watch.explain("a|c|r1", RESET))
        if kind == "link":
            job.say({"type": "answer", "id": (await job.hear())["id"], "incident": None})
        ending = asyncio.ensure_future(watch.measured("done"))
        if kind == "link":
            await job.hear()
            job.socket.close()
        return watch.fatal(), await asking, await ending

    if kind == "link":
        assert played(job, scene) == (None, None, ())
    else:
        watch = NoJob() if kind == "none" else ScriptedWatch()
        assert asyncio.run(scene(watch)) == (None, None, ())


@pytest.mark.parametrize("kind", ["link", "fake"])
def test_a_watch_that_knows_the_gateways_death_explains_every_failure_with_it(kind, job):
    async def scene(watch):
        if kind == "link":
            job.say(KILLED)
            await until(watch.fatal)
            job.socket.close()
        return await watch.explain("a|c|r1", RESET), watch.fatal()

    if kind == "link":
        explained, fatal = played(job, scene)
    else:
        death = Incident(incident_class="gateway_killed", at="z", summary="s")
        explained, fatal = asyncio.run(scene(ScriptedWatch(ending=death)))
    assert explained == fatal
    assert fatal.incident_class == "gateway_killed"


def test_keys_are_taken_out_of_what_the_job_tells_of_a_gateways_end(job):
    died = {"error": ["LookupError: a-key", {"by": "a-key"}], "code": 1}
    gateway = {"events": [{"name": "gone", "detail": died}], "exit": died}
    clean = {"error": ["LookupError: [key]", {"by": "[key]"}], "code": 1}

    async def scene(link):
        await until(lambda: job.incidents)
        job.say({"type": "outcome", "gateway": gateway})
        return await link.measured("done")

    (outcome,) = played(job, scene, {**KILLED, "summary": "died of a-key", "detail": died})
    (incident,) = job.incidents
    assert (incident.summary, incident.detail) == ("died of [key]", clean)
    assert (outcome.events[0]["detail"], outcome.exit) == (clean, clean)
