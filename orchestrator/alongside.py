"""What jobs do around the measuring process, for each gateway: announce, watch, answer, stop."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.around import Say
from orchestrator.bench_child import BenchChild, ChildEnd, terminal_given_to
from orchestrator.bringing import Up
from orchestrator.conclusion import Course
from orchestrator.events import Trouble, as_trouble
from orchestrator.exposure import exposed, patterns_for
from orchestrator.facts import build_facts
from orchestrator.faults import BuildDiffers
from orchestrator.interrupts import Interrupts
from orchestrator.launching import client_key
from orchestrator.lifecycle import Machine
from orchestrator.link import Asked, JournalMade, Measured, Message
from orchestrator.lookout import Lookout
from orchestrator.ports import Absence
from orchestrator.render import environment_lines, up_line
from orchestrator.taking_down import take_down
from orchestrator.tidings import watched
from orchestrator.watch import Watcher

_COMPARED = {
    "commit": "the commit",
    "tree": "the tree",
    "diffSha256": "the uncommitted difference",
    "entrySha256": "the entry file",
}
"""What has to be the same for a resumed run to measure the same build."""

UPSTREAM_KEY = "LOCAL_UPSTREAM_KEY"
"""Variable of the simulator's key; its name says that it never leaves this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """What the child is told to do."""

    command: str
    """``bench`` or ``resume``."""
    words: tuple[str, ...]
    """What was typed for it: models, options, or the journal. Address and key name are added."""
    may_ask: bool = True
    """It may have to ask a person (a paid run without ``--yes``): it gets the terminal."""
    tells_upstream: bool = False
    """It also asks the gateway's upstream directly, and is told where that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The two that look after the gateway while it is measured."""

    watcher: Watcher
    lookout: Lookout


def watch_over(machine: Machine, course: Course, down: ExitStack) -> Watch:
    """Begin to look after a gateway; ``down`` ends that."""
    watcher = Watcher(
        machine,
        course.up.started,
        on_exit=lambda end: _on_loss(course, as_trouble(end)),
        on_trouble=lambda trouble: _on_loss(course, trouble),
    )
    down.callback(watcher.close)
    lookout = Lookout(
        machine,
        watched(course.up),
        on_reading=course.tidings.reading,
        on_note=course.tidings.note,
    )
    down.callback(lookout.close)
    return Watch(watcher=watcher, lookout=lookout)


def require_same_build(up: Up, expected: Mapping[str, Any] | None) -> None:
    """See that a resumed run measures the build it began with.

    Args:
        up: The gateway.
        expected: Facts of the build then; ``None`` = a new run.

    Raises:
        BuildDiffers: It is another one.
    """
    if expected is None:
        return
    now, then = build_facts(up.started.record), expected
    differences = [
        f"{what} was {_short(then.get(key))}, is {_short(now.get(key))}"
        for key, what in _COMPARED.items()
        if then.get(key) != now.get(key)
    ]
    if differences:
        raise BuildDiffers(differences)


def _short(value: object) -> str:
    return "unknown" if value is None else str(value)[:12]


def announce(up: Up, say: Say, *, is_verbose: bool) -> None:
    """Say what is up, from where, and what is odd about it."""
    record = up.started.record
    say(up_line(record, up.url))
    for line in (*up.wanted.config.notes, *record.warnings):
        say(f"note: {line}")
    for line in environment_lines(up.environment) if is_verbose else ():
        say(f"environment: {line}")
    for one in record.exposure:
        say(f"warning: PID {one.pid} would be hit by `pkill -f '{one.pattern}'`: {one.command}")


def warn_of_ourselves(machine: Machine, up: Up, say: Say) -> None:
    """Say what of this very command people kill by; the measuring process shows no more of it."""
    record, us = up.started.record, machine.table.look(machine.table.ourselves().pid)
    patterns = patterns_for(
        entry=up.wanted.located.entry,
        worktree=Path(record.worktree),
        more=up.wanted.config.kill_patterns,
    )
    for one in exposed([] if isinstance(us, Absence) else [us], patterns):
        say(f"warning: this command, PID {one.pid}, would be hit by `pkill -f '{one.pattern}'`")


def key_words(up: Up) -> list[str]:
    """Name the variable of the gateway's key, unless it was typed and is among the words."""
    config = up.wanted.config
    if config.api_key_env is None:
        return ["--no-key"]
    is_typed = config.origins.get("api_key_env") == "flag"
    return [] if is_typed else ["--api-key-env", config.api_key_env]


def upstream_words(up: Up) -> list[str]:
    """Name the gateway's upstream and the variable of its key, for a child that asks it too."""
    upstream = up.near.upstream
    if upstream.base_url is None:
        return []
    words = ["--baseline-url", upstream.base_url]
    name = _upstream_variable(up)
    return [*words, "--baseline-api-key-env", name] if name is not None else words


def _upstream_variable(up: Up) -> str | None:
    if not up.near.upstream.is_simulated:
        return up.wanted.config.upstream_key_env
    return UPSTREAM_KEY if up.near.upstream.token else None


def child_environment(up: Up) -> dict[str, str]:
    """Return the caller's environment with the gateway's local key under its name."""
    kept = {name: value for name, value in up.near.caller.items() if not name.startswith("GWB_")}
    upstream = up.near.upstream
    simulators = {UPSTREAM_KEY: upstream.token} if upstream.is_simulated and upstream.token else {}
    return kept | client_key(up.wanted.config, up.near) | simulators


def follow(
    child: BenchChild,
    interrupts: Interrupts,
    on_message: Callable[[Message], None],
    *,
    may_ask: bool,
) -> ChildEnd:
    """Follow the measuring process to its end; signals that reach us are passed on to it.

    Args:
        child: Just started.
        interrupts: The signals of this job.
        on_message: Takes what it says.
        may_ask: It has the terminal until it measures, and again nobody has it after that.
    """
    with ExitStack() as after:
        after.callback(child.end)
        interrupts.forward = child.signal
        after.callback(setattr, interrupts, "forward", None)
        for number in interrupts.received:  # those that came while it was being started
            child.signal(number)
        terminal = ExitStack()
        after.callback(terminal.close)
        if may_ask:
            terminal.enter_context(terminal_given_to(child.pid))

        def heard(message: Message) -> None:
            if isinstance(message, JournalMade | Measured):
                terminal.close()
            on_message(message)

        return child.follow(heard)


def answer(course: Course, watch: Watch, asked: Asked) -> None:
    """Say whether a request failed because of the gateway."""
    trouble = watch.watcher.explain(asked.local_port)
    if trouble is not None:
        watch.lookout.look_closely()
    course.line.send(
        {
            "type": "answer",
            "id": asked.id,
            "incident": None if trouble is None else _trouble(course.of_side(trouble)),
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
    told = course.of_side(trouble)
    course.lost = course.lost or told
    course.line.send({"type": "incident", **_trouble(told)})


def stop_once(machine: Machine, course: Course, interrupts: Interrupts) -> None:
    """Take the gateway down, once, whoever asks; a fault is kept for the end of the job."""
    if course.stopped is not None or course.stop_fault is not None:
        return
    up = course.up
    down = take_down(
        machine, up.wanted, held=up.started.held, interrupts=interrupts, say=course.say
    )
    course.stopped, course.stop_fault = down.stopped, down.fault
