"""The main job: gateway up, a child process measures it, gateway down; on every way out.

The measuring process is told who the gateway is, is pushed what happens to it, and hears how it
ended before it writes the end of its journal. If that process dies, the end is written here.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orchestrator.around import Say
from orchestrator.attaching import attach
from orchestrator.bench_child import BenchChild, ChildEnd, terminal_given_to
from orchestrator.bringing import Up, bring_up
from orchestrator.conclusion import Course, JobEnd, conclude
from orchestrator.events import Trouble, as_trouble
from orchestrator.exposure import exposed, patterns_for
from orchestrator.facts import build_facts, gateway_state
from orchestrator.faults import BuildDiffers
from orchestrator.interrupts import Interrupts
from orchestrator.launching import client_key, request_headers
from orchestrator.leftovers import remove_locks, remove_traces
from orchestrator.lifecycle import Machine
from orchestrator.link import Asked, JobLink, JournalMade, Measured, Message
from orchestrator.lookout import Lookout
from orchestrator.ports import Absence
from orchestrator.render import environment_lines, up_line
from orchestrator.taking_down import take_down
from orchestrator.tidings import Tidings, watched
from orchestrator.wanted import Wanted
from orchestrator.watch import Watcher

_COMPARED = {
    "commit": "the commit",
    "tree": "the tree",
    "diffSha256": "the uncommitted difference",
    "entrySha256": "the entry file",
}
"""What has to be the same for a resumed run to measure the same build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """What the child is told to do."""

    command: str
    """``bench`` or ``resume``."""
    words: tuple[str, ...]
    """What was typed for it: models, options, or the journal. Address and key name are added."""
    may_ask: bool = True
    """It may have to ask a person (a paid run without ``--yes``): it gets the terminal."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The two that look after the gateway while it is measured."""

    watcher: Watcher
    lookout: Lookout


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
        course = Course(up=up, link=link, tidings=Tidings(link, up.started.record))
        down.callback(course.link.close)
        down.callback(_stop_once, job, machine, course, interrupts)
        _require_same_build(job, up)
        _announce(job, up, say)
        _warn_of_ourselves(machine, up, say)
        course.link.send(_hello(job, up))
        watcher = Watcher(
            machine,
            up.started,
            on_exit=lambda end: _on_loss(course, as_trouble(end)),
            on_trouble=lambda trouble: _on_loss(course, trouble),
        )
        down.callback(watcher.close)
        lookout = Lookout(
            machine,
            watched(up),
            on_reading=course.tidings.reading,
            on_note=course.tidings.note,
        )
        down.callback(lookout.close)
        watch = Watch(watcher=watcher, lookout=lookout)
        end = _measure(job, machine, course, watch, interrupts)
        lookout.close()
        if end.said is None:
            # Whoever killed the one may have killed both, in the same moment.
            course.lost = course.lost or watcher.explain(None)
        watcher.expect_end()
        _stop_once(job, machine, course, interrupts)
    return _tidied(
        job, machine, up, conclude(machine, course, end, interrupted=interrupts.exit_code)
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


def _require_same_build(job: Job, up: Up) -> None:
    if job.expected_build is None:
        return
    now = build_facts(up.started.record)
    then = job.expected_build
    differences = [
        f"{what} was {_short(then.get(key))}, is {_short(now.get(key))}"
        for key, what in _COMPARED.items()
        if then.get(key) != now.get(key)
    ]
    if differences:
        raise BuildDiffers(differences)


def _short(value: object) -> str:
    return "unknown" if value is None else str(value)[:12]


def _announce(job: Job, up: Up, say: Say) -> None:
    record = up.started.record
    say(up_line(record, up.url))
    for line in (*up.wanted.config.notes, *record.warnings):
        say(f"note: {line}")
    for line in environment_lines(up.environment) if job.is_verbose else ():
        say(f"environment: {line}")
    for one in record.exposure:
        say(f"warning: PID {one.pid} would be hit by `pkill -f '{one.pattern}'`: {one.command}")


def _warn_of_ourselves(machine: Machine, up: Up, say: Say) -> None:
    """Say what of this very command people kill by; the measuring process shows no more of it."""
    record, us = up.started.record, machine.table.look(machine.table.ourselves().pid)
    patterns = patterns_for(
        entry=up.wanted.located.entry,
        worktree=Path(record.worktree),
        more=up.wanted.config.kill_patterns,
    )
    for one in exposed([] if isinstance(us, Absence) else [us], patterns):
        say(f"warning: this command, PID {one.pid}, would be hit by `pkill -f '{one.pattern}'`")


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
    job: Job, machine: Machine, course: Course, watch: Watch, interrupts: Interrupts
) -> ChildEnd:
    """Run the measuring process from its start to its end."""
    up = course.up
    child = BenchChild(
        _child_words(job, up),
        environment=_child_environment(up),
        folder=up.wanted.config.cwd,
        link=course.link,
        holds=(up.hold,),
    )
    with ExitStack() as after:
        after.callback(child.end)
        interrupts.forward = child.signal
        after.callback(setattr, interrupts, "forward", None)
        for number in interrupts.received:  # those that came while it was being started
            child.signal(number)
        terminal = ExitStack()
        after.callback(terminal.close)
        if job.measuring.may_ask:
            terminal.enter_context(terminal_given_to(child.pid))

        def on_message(message: Message) -> None:
            match message:
                case JournalMade():
                    course.journal = Path(message.path)
                    course.journal_ns = machine.clock.now_ns()
                    course.tidings.journal_made()
                    watch.lookout.add_folder(course.journal.parent, "the results")
                    job.on_journal(course.journal)
                    terminal.close()
                case Asked():
                    _answer(course, watch, message)
                case Measured():
                    terminal.close()
                    watch.lookout.finish()
                    watch.watcher.expect_end()
                    _stop_once(job, machine, course, interrupts)
                    course.link.send(_outcome(course))

        return child.follow(on_message)


def _child_words(job: Job, up: Up) -> list[str]:
    words = [*job.measuring.words, "--url", up.base_url, *_key_words(up)]
    headers = request_headers(up.wanted.config, up.near, up.started.record.port)
    for name, value in headers.items():
        words += ["-H", f"{name}: {value}"]
    return [job.measuring.command, *words, "--json"]


def _key_words(up: Up) -> list[str]:
    """Name the variable of the gateway's key, unless it was typed and is among the words."""
    config = up.wanted.config
    if config.api_key_env is None:
        return ["--no-key"]
    is_typed = config.origins.get("api_key_env") == "flag"
    return [] if is_typed else ["--api-key-env", config.api_key_env]


def _child_environment(up: Up) -> dict[str, str]:
    """Return the caller's environment with the gateway's local key under its name."""
    kept = {name: value for name, value in up.near.caller.items() if not name.startswith("GWB_")}
    return kept | client_key(up.wanted.config, up.near)


def _answer(course: Course, watch: Watch, asked: Asked) -> None:
    trouble = watch.watcher.explain(asked.local_port)
    if trouble is not None:
        watch.lookout.look_closely()
    course.link.send(
        {
            "type": "answer",
            "id": asked.id,
            "incident": None if trouble is None else _trouble(trouble),
        }
    )


def _trouble(trouble: Trouble) -> dict[str, Any]:
    return {
        "class": trouble.incident_class,
        "atNs": trouble.at_ns,
        "summary": trouble.summary,
        "detail": dict(trouble.detail),
        "sinceNs": trouble.since_ns,
    }


def _on_loss(course: Course, trouble: Trouble) -> None:
    """Push at once what ends the measuring; runs in the watcher's thread."""
    course.lost = course.lost or trouble
    course.link.send({"type": "incident", **_trouble(trouble)})


def _outcome(course: Course) -> dict[str, Any]:
    return {"type": "outcome", "gateway": gateway_state(course.up, course.stopped)}


def _stop_once(job: Job, machine: Machine, course: Course, interrupts: Interrupts) -> None:
    """Take the gateway down, once, whoever asks; a fault is kept for the end of the job."""
    if course.stopped is not None or course.stop_fault is not None or job.keep:
        return
    down = take_down(machine, course.up.wanted, held=course.up.started.held, interrupts=interrupts)
    course.stopped, course.stop_fault = down.stopped, down.fault
