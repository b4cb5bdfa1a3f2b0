"""The main job: gateway up, a child process measures it, gateway down; on every way out.

The measuring process is told who the gateway is, is pushed what happens to it, and hears how it
ended before it writes the end of its journal. If that process dies, the end is written here.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orchestrator.alongside import (
    Measuring,
    Watch,
    announce,
    answer,
    child_environment,
    follow,
    key_words,
    require_same_build,
    stop_once,
    upstream_words,
    warn_of_ourselves,
    watch_over,
)
from orchestrator.around import Say
from orchestrator.attaching import attach
from orchestrator.bench_child import BenchChild, ChildEnd
from orchestrator.bringing import Up, bring_up
from orchestrator.conclusion import Course, JobEnd, conclude
from orchestrator.facts import build_facts, gateway_state
from orchestrator.interrupts import Interrupts
from orchestrator.launching import request_headers
from orchestrator.leftovers import remove_locks, remove_traces
from orchestrator.lifecycle import Machine
from orchestrator.link import Asked, JobLink, JournalMade, Measured, Message
from orchestrator.tidings import Tidings
from orchestrator.wanted import Wanted

__all__ = ["Job", "Measuring", "run_job"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job."""

    wanted: Wanted
    measuring: Measuring
    launch: Mapping[str, Any]
    """How the gateway is started again by ``resume``; goes into the journal's header."""
    keep: bool = False
    """Leave the gateway up."""
    attached: int | None = None
    """PID of a gateway that runs already; ``keep`` goes with it."""
    is_verbose: bool = False
    """Tell what was done to the gateway's environment."""
    expected_build: Mapping[str, Any] | None = None
    """Facts of the build that a resumed run began with; ``None`` = a new run."""
    on_journal: Callable[[Path], None] = lambda _: None
    """Called once the journal exists."""


def run_job(job: Job, machine: Machine, interrupts: Interrupts, say: Say) -> JobEnd:
    """Do the whole job.

    Raises:
        OrchestratorError: The gateway did not start; nothing was measured.
        Interrupted: A signal came before anything was measured.
    """
    with interrupts.abandoning():
        if job.attached is None:
            up = bring_up(machine, job.wanted, say)
        else:
            up = attach(machine, job.wanted, job.attached)
    with ExitStack() as down:
        down.callback(up.hold.release)
        down.callback(up.started.held.close)
        link = JobLink()
        tidings = Tidings(link, up.started.record)
        course = Course(up=up, line=link, tidings=tidings, say=say)
        down.callback(link.close)
        down.callback(_stop_once, job, machine, course, interrupts)
        require_same_build(up, job.expected_build)
        announce(up, say, is_verbose=job.is_verbose)
        warn_of_ourselves(machine, up, say)
        link.send(_hello(job, up))
        watch = watch_over(machine, course, down)
        end = _measure(job, machine, course, watch, interrupts, link)
        watch.lookout.close()
        if end.said is None:
            # Whoever killed the one may have killed both, in the same moment.
            course.lost = course.lost or watch.watcher.explain(None)
        watch.watcher.expect_end()
        _stop_once(job, machine, course, interrupts)
    return _tidied(
        job, machine, up, conclude(machine, (course,), end, interrupted=interrupts.exit_code)
    )


def _tidied(job: Job, machine: Machine, up: Up, end: JobEnd) -> JobEnd:
    """Leave nothing in the state folder of a run that ended well; of others the log is wanted."""
    if job.attached is not None:
        remove_locks(machine, up.started.record.id)
        return end
    if job.keep or end.exit_code != 0:
        return end
    own = (job.wanted.instance.id, job.wanted.upstream_instance.id)
    if not remove_traces(machine, own):
        return end
    return replace(end, gateway={**end.gateway, "log": None})


def _hello(job: Job, up: Up) -> dict[str, Any]:
    config = up.wanted.config
    is_simulated = up.near.upstream.is_simulated
    free = "its upstream is the embedded simulator" if is_simulated else config.upstream_free
    return {
        "type": "hello",
        "runId": up.wanted.run_id,
        "launch": {**job.launch, "build": build_facts(up.started.record)},
        "gateway": gateway_state(up),
        "simulatedUpstream": is_simulated,
        "freeBecause": free,
        "answerBook": str(up.near.answer_book) if is_simulated else None,
        "graceMs": config.grace_ms,
    }


def _measure(
    job: Job,
    machine: Machine,
    course: Course,
    watch: Watch,
    interrupts: Interrupts,
    link: JobLink,
) -> ChildEnd:
    """Run the measuring process from its start to its end."""
    up = course.up
    child = BenchChild(
        _child_words(job, up),
        environment=child_environment(up),
        folder=up.wanted.config.cwd,
        link=link,
        holds=(up.hold,),
    )

    def on_message(message: Message) -> None:
        match message:
            case JournalMade():
                course.journal = Path(message.path)
                course.journal_ns = machine.clock.now_ns()
                course.tidings.journal_made()
                watch.lookout.add_folder(course.journal.parent, "the results")
                job.on_journal(course.journal)
            case Asked():
                answer(course, watch, message)
            case Measured():
                watch.lookout.finish()
                watch.watcher.expect_end()
                _stop_once(job, machine, course, interrupts)
                course.line.send(_outcome(course))

    return follow(child, interrupts, on_message, may_ask=job.measuring.may_ask)


def _child_words(job: Job, up: Up) -> list[str]:
    words = [*job.measuring.words, "--url", up.base_url, *key_words(up)]
    words += upstream_words(up) if job.measuring.tells_upstream else []
    headers = request_headers(up.wanted.config, up.near, up.started.record.port)
    for name, value in headers.items():
        words += ["-H", f"{name}: {value}"]
    return [job.measuring.command, *words, "--json"]


def _outcome(course: Course) -> dict[str, Any]:
    return {"type": "outcome", "gateway": gateway_state(course.up, course.stopped)}


def _stop_once(job: Job, machine: Machine, course: Course, interrupts: Interrupts) -> None:
    """Take the gateway down, once, whoever asks."""
    if not job.keep:
        stop_once(machine, course, interrupts)
