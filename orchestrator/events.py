"""What happens to a gateway, and the incident class of each way to end. Pure values."""

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

ExitSource = Literal["pidfd", "zombie", "kqueue", "shim", "unknown"]

EndClass = Literal["gateway_killed", "gateway_oom", "gateway_stopped", "gateway_crash"]
TroubleClass = Literal[
    "gateway_killed",
    "gateway_oom",
    "gateway_stopped",
    "gateway_crash",
    "gateway_draining_or_hung",
    "gateway_suspended",
    "port_taken",
]

# Signals that people and tools send. The others (SEGV, ABRT, BUS…) a process brings on itself.
_SENT = frozenset({1, 2, 3, 9, 15})
_SIGKILL = 9
_LONGEST_LINE = 200


class Exit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a process ended; ``code`` and ``signal`` are both ``None`` when nobody can tell."""

    code: int | None = None
    signal: int | None = None
    source: ExitSource = "unknown"
    error: str | None = None
    """The uncaught error that the shim saw, masked; Node and Python only."""
    by_memory: bool = False
    """The kernel said that memory pressure ended it (macOS ``NOTE_EXIT_MEMORY``)."""


def from_wait_status(status: int, source: ExitSource) -> Exit:
    """Read a ``wait(2)`` status: low seven bits the signal, the byte above the exit code."""
    number = status & 0x7F
    if number:
        return Exit(signal=number, source=source)
    return Exit(code=(status >> 8) & 0xFF, source=source)


class Event(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One step in the life of a gateway, as the result document lists it."""

    name: str
    """``spawned``, ``adopted``, ``proven``, ``ready``, ``found_up``; ``term_sent``, ``kill_sent``,
    ``swept``, ``gone``, ``port_free``."""
    at_ns: int
    """Monotonic clock, nanoseconds."""
    detail: dict[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exited:
    """The gateway ended although the command that watches it did not stop it."""

    at_ns: int
    """Monotonic reading when the death was noticed."""
    exit: Exit
    incident_class: EndClass
    summary: str
    stopped_by: int | None = None
    """PID of the `stop` command of another terminal; ``None`` = none asked for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why a request to the gateway failed, when the gateway itself is the reason."""

    incident_class: TroubleClass
    at_ns: int
    summary: str
    detail: dict[str, Any]
    since_ns: int | None = None
    """When it was last seen to be fine; ``None`` = not known to be earlier than ``at_ns``."""


def as_trouble(end: Exited) -> Trouble:
    """Return an end as what is wrong with the gateway."""
    return Trouble(
        incident_class=end.incident_class,
        at_ns=end.at_ns,
        summary=end.summary,
        detail={
            "code": end.exit.code,
            "signal": end.exit.signal,
            "source": end.exit.source,
            "error": end.exit.error,
            **({} if end.stopped_by is None else {"stoppedBy": end.stopped_by}),
        },
    )


def last_words(end: Exit) -> str | None:
    """Return the line of an uncaught error that names it; ``None`` = the shim saw none."""
    lines = [line.strip() for line in (end.error or "").splitlines() if line.strip()]
    if not lines:
        return None
    # Python ends a traceback with the error, Node begins a stack with it.
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…"


# Numbers that are the same on Linux and macOS.
_SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    3: "SIGQUIT",
    4: "SIGILL",
    5: "SIGTRAP",
    6: "SIGABRT",
    8: "SIGFPE",
    9: "SIGKILL",
    11: "SIGSEGV",
    13: "SIGPIPE",
    14: "SIGALRM",
    15: "SIGTERM",
}


def described(end: Exit) -> str:
    """Say how a process ended: ``was ended by SIGKILL``, ``exited with status 1``."""
    if end.signal is not None:
        return f"was ended by {_SIGNALS.get(end.signal, f'signal {end.signal}')}"
    if end.code is not None:
        return f"exited with status {end.code}"
    return "ended, nobody can tell how"


def classify(end: Exit, *, oom_kills_rose: bool) -> EndClass:
    """Name the class of an end that nobody asked for.

    A graceful SIGTERM handler ends with 0, so 0 means "stopped", never "normal". An end that
    nobody can tell counts as stopped too: it claims neither a signal nor a crash.
    """
    if end.by_memory or (end.signal == _SIGKILL and oom_kills_rose):
        return "gateway_oom"
    if end.signal is not None:
        return "gateway_killed" if end.signal in _SENT else "gateway_crash"
    if end.code:
        return "gateway_crash"
    return "gateway_stopped"
