"""`exec`: any command with a verified gateway up; the gateway goes down on every way out.

The command is told where the gateway is, in its words and in its environment, and is ended, or not,
when the gateway is lost. Its status is ours.
"""

import re
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Literal

from orchestrator.around import Say
from orchestrator.bringing import Up
from orchestrator.events import Trouble, as_trouble
from orchestrator.exposure import DEFAULT_PATTERNS
from orchestrator.guest import Guest, GuestEnded, GuestPaused, require_program
from orchestrator.interrupts import Interrupted, Interrupts
from orchestrator.launching import client_key
from orchestrator.leftovers import remove_locks, remove_traces
from orchestrator.lifecycle import Machine
from orchestrator.lookout import Lookout
from orchestrator.notes import Note
from orchestrator.render import up_line
from orchestrator.resources import Extremes
from orchestrator.taking_down import Down, take_down
from orchestrator.templates import fill
from orchestrator.tidings import is_known, watched
from orchestrator.watch import Watcher

OnDeath = Literal["stop", "continue"]

_TURN_S = 0.5
# Between SIGTERM and SIGKILL for a command whose gateway is gone, or that we were told to end.
_GUEST_GRACE_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What is to be run on the gateway."""

    words: tuple[str, ...]
    on_death: OnDeath = "stop"
    bring_up: Callable[[], Up]
    """Starts the gateway, or attaches to one."""
    is_kept: bool = False
    """The gateway is not stopped: it is not ours, or somebody wants it afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrandEnd:
    """How it went."""

    up: Up
    status: int
    """As ``subprocess`` has it: negative = the signal that ended it."""
    trouble: Trouble | None
    """What happened to the gateway meanwhile."""
    was_ended_by_us: bool
    """The command was signalled because the gateway was lost."""
    may_go_on: bool
    """It was wanted to go on without the gateway."""
    down: Down | None
    """``None`` = the gateway was left up."""
    notes: tuple[Note, ...] = ()
    """What was noticed around the gateway while the command ran."""
    has_log: bool = True
    """The gateway's log is still there."""
    resources: Mapping[str, float | None] | None = None
    """What the gateway's processes used meanwhile; ``None`` = nothing was sampled."""


@dataclass(slots=True, kw_only=True)
class _Course:
    """What happened so far."""

    up: Up
    happenings: "SimpleQueue[_Happening]" = field(default_factory=SimpleQueue)
    """What is to be met next; put there by the threads that watch."""
    trouble: Trouble | None = None
    was_ended_by_us: bool = False
    kill_at_ns: int | None = None
    signals: list[int] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    used: Extremes = field(default_factory=Extremes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A signal asked us to end."""

    number: int


_Happening = GuestEnded | GuestPaused | Note | _Told | Trouble


def run_errand(errand: Errand, machine: Machine, interrupts: Interrupts, say: Say) -> ErrandEnd:
    """Do the whole errand.

    Raises:
        OrchestratorError: The gateway did not start, or the command could not be executed.
        Interrupted: A signal came before the command ran.
    """
    program = _program(errand.words[0])
    with interrupts.abandoning():
        up = errand.bring_up()
    stopped: list[Down] = []

    def stop_once() -> None:
        if not errand.is_kept and not stopped:
            held = up.started.held
            stopped.append(take_down(machine, up.wanted, held=held, interrupts=interrupts, say=say))

    course = _Course(up=up)
    with ExitStack() as down:
        down.callback(up.hold.release)
        down.callback(up.started.held.close)
        down.callback(stop_once)
        words = guest_words(errand.words, up)
        _announce(up, words, say)
        watcher = Watcher(
            machine,
            up.started,
            on_exit=lambda end: course.happenings.put(as_trouble(end)),
            on_trouble=course.happenings.put,
        )
        down.callback(watcher.close)
        status = _accompany(errand, (program, *words[1:]), machine, course, interrupts, say)
        watcher.expect_end()
        # A death in the same moment may not have been told yet.
        found = None if course.trouble else watcher.explain(None)
        if found is not None:
            course.trouble = found
            say(f"error: {found.summary}")
        # Before the watcher is closed: its thread waits for this death, and for nothing else.
        stop_once()
    is_well = status == 0 and course.trouble is None and all(one.fault is None for one in stopped)
    return ErrandEnd(
        up=up,
        status=status,
        has_log=not _is_tidied(errand, machine, up, is_well=is_well),
        trouble=course.trouble,
        was_ended_by_us=course.was_ended_by_us,
        may_go_on=errand.on_death == "continue",
        down=next(iter(stopped), None),
        notes=tuple(course.notes),
        resources=course.used.facts(),
    )


def _is_tidied(errand: Errand, machine: Machine, up: Up, *, is_well: bool) -> bool:
    """Leave nothing in the state folder of what ended well; say whether the log is gone."""
    if errand.is_kept:
        remove_locks(machine, up.started.record.id)
        return False
    own = (up.wanted.instance.id, up.wanted.upstream_instance.id)
    return is_well and remove_traces(machine, own)


def _program(name: str) -> str:
    """Find the command before anything is started for it."""
    found = shutil.which(name)
    return require_program(name, None if found is None else str(Path(found).absolute()))


def guest_words(words: Sequence[str], up: Up) -> tuple[str, ...]:
    """Return the command's words with ``{url}``, ``{base_url}`` and ``{port}`` filled."""
    values = {"url": up.url, "base_url": up.base_url, "port": str(up.started.record.port)}
    return tuple(fill(word, values) for word in words)


def guest_environment(up: Up) -> dict[str, str]:
    """Return the caller's environment with the gateway's address and key; ours taken out."""
    kept = {name: value for name, value in up.near.caller.items() if not name.startswith("GWB_")}
    name = up.wanted.config.api_key_env
    kept.pop("GATEWAY_API_KEY_ENV", None)
    return {
        **kept,
        "GATEWAY_URL": up.url,
        "GATEWAY_BASE_URL": up.base_url,
        "GATEWAY_PORT": str(up.started.record.port),
        **({} if name is None else {"GATEWAY_API_KEY_ENV": name}),
        **client_key(up.wanted.config, up.near),
    }


def _announce(up: Up, words: Sequence[str], say: Say) -> None:
    record = up.started.record
    say(up_line(record, up.url))
    for line in (*up.wanted.config.notes, *record.warnings):
        say(f"note: {line}")
    for one in record.exposure:
        say(f"warning: PID {one.pid} would be hit by `pkill -f '{one.pattern}'`: {one.command}")
    hits = [pattern for pattern in DEFAULT_PATTERNS if re.search(pattern, " ".join(words))]
    if hits:
        say(f"note: the command itself would be hit by `pkill -f '{hits[0]}'`")


def _accompany(
    errand: Errand,
    words: Sequence[str],
    machine: Machine,
    course: _Course,
    interrupts: Interrupts,
    say: Say,
) -> int:
    """Run the command to its end, whatever it or the gateway or we are told meanwhile.

    Returns:
        How it ended, as ``subprocess`` has it.
    """
    up, happenings = course.up, course.happenings
    with ExitStack() as after:
        lookout = Lookout(
            machine,
            watched(up),
            on_reading=lambda one: course.used.take(one.at_ns, one.values),
            on_note=happenings.put,
        )
        after.callback(lookout.close)
        # Before the command runs: what comes from now on is kept for it.
        interrupts.forward = lambda number: happenings.put(_Told(number=number))
        after.callback(setattr, interrupts, "forward", None)
        if interrupts.received:
            raise Interrupted(interrupts.received[0])
        guest = Guest(
            words,
            environment=guest_environment(up),
            holder=machine.holder,
            hold=up.hold,
            tell=happenings.put,
        )
        after.callback(guest.leave)
        while True:
            happening = _next(happenings, course, machine)
            if isinstance(happening, GuestEnded):
                break
            _meet(happening, errand, guest, course, machine, say)
        lookout.finish()
    return happening.status


def _next(
    happenings: "SimpleQueue[_Happening]", course: _Course, machine: Machine
) -> _Happening | None:
    wait_s = _TURN_S
    if course.kill_at_ns is not None:
        left_s = (course.kill_at_ns - machine.clock.now_ns()) / 1e9
        wait_s = max(0.0, min(wait_s, left_s))
    try:
        return happenings.get(timeout=wait_s)
    except Empty:
        return None


def _meet(
    happening: GuestPaused | Note | _Told | Trouble | None,
    errand: Errand,
    guest: Guest,
    course: _Course,
    machine: Machine,
    say: Say,
) -> None:
    match happening:
        case None:
            if course.kill_at_ns is not None and machine.clock.now_ns() >= course.kill_at_ns:
                guest.signal(signal.SIGKILL)
                course.kill_at_ns = None
        case GuestPaused():
            guest.pause_with_it()
        case Note():
            _take_note(happening, course, say)
        case _Told():
            _pass_on(happening.number, guest, course, machine)
        case Trouble():
            course.trouble = course.trouble or happening
            say(f"error: {happening.summary}")
            if errand.on_death == "continue":
                say("note: the command goes on, as `--on-death continue` says")
                return
            course.was_ended_by_us = True
            guest.signal(signal.SIGTERM)
            guest.signal(signal.SIGCONT)
            course.kill_at_ns = machine.clock.now_ns() + int(_GUEST_GRACE_S * 1e9)


def _take_note(note: Note, course: _Course, say: Say) -> None:
    course.notes.append(note)
    if not is_known(note, course.up.started.record.exposure):
        say(f"warning: {note.line}")


def _pass_on(number: int, guest: Guest, course: _Course, machine: Machine) -> None:
    """Give the command the signal that we got; the second one means "now"."""
    course.signals.append(number)
    if len(course.signals) > 1:
        guest.signal(signal.SIGKILL)
        return
    guest.signal(number)
    if number != signal.SIGINT:
        course.kill_at_ns = machine.clock.now_ns() + int(_GUEST_GRACE_S * 1e9)
