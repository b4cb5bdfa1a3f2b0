"""What can go wrong around one gateway process; nothing is signalled after any of these.

OrchestratorError (1)
├── DescriptionFault (2)        the description of the gateway asks for something that can't be
├── NotStarted (3)              nothing of ours is left running
│   ├── EntryMissing            the file, module or program is not there
│   ├── FileInTheWay            a file that is not ours is where the renamed entry would go
│   ├── PortTaken               somebody else listens there
│   ├── NoFreePort              every port tried was taken
│   ├── StartUnderWay           another start of the same gateway holds its lock
│   ├── AnotherIsUp             the name is in use with another description
│   ├── NotDetached             the gateway would die with us
│   ├── ExecFailed              the system refused to execute the command
│   ├── DiedBeforeReady         it ended before it was ready
│   └── NeverReady              it lives, but its health never answered as expected
├── NotVerified (3)             nothing was signalled
│   ├── PidReused               the PID belongs to another process now
│   ├── ForeignProc             `/proc` belongs to another PID namespace than we do
│   ├── IdentityUnknown         another boot, another namespace, a hidden process
│   ├── NotForUs                it is in use, or belongs to somebody else
│   └── RecordUnreadable        truncated, or written by a newer version
├── StateUnusable (3)           the state folder is full, read-only, somebody else's, or no folder
└── NotStopped (3)              something of the session survived SIGKILL, or the port is held

Each class takes values and builds its own sentence; texts from the outside come in masked.
"""

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


class OrchestratorError(Exception):
    """Something ended the command."""

    exit_code = 1
    retryable = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class DescriptionFault(OrchestratorError):
    """The description of the gateway asks for something that can't be."""

    exit_code = 2


class StateUnusable(OrchestratorError):
    """What is on record can't be read or written.

    Args:
        path: Of the file or folder.
        said: The system's own words.
    """

    exit_code = 3

    def __init__(self, path: str, said: str) -> None:
        super().__init__(
            f"the state folder can't be used: {said}: `{path}`",
            hint="make room, or let `XDG_STATE_HOME` name a folder that you may write to",
        )


@contextmanager
def state_access(path: Path) -> Iterator[None]:
    """Say what the system refuses in the state folder as what it is: no fault of ours.

    Raises:
        StateUnusable: Full, read-only, somebody else's, or no folder at all.
    """
    try:
        yield
    except OSError as refused:
        raise StateUnusable(str(path), refused.strerror or str(refused)) from refused


class NotStarted(OrchestratorError):
    """The gateway did not start; nothing of ours is left running."""

    exit_code = 3


class EntryMissing(NotStarted):
    """What should be started is not there."""

    def __init__(self, what: str, where: str, *, hint: str | None = None) -> None:
        super().__init__(f"no {what} at `{where}`", hint=hint or "build it, or name another one")


class FileInTheWay(NotStarted):
    """A file that is not ours is where the renamed entry would go."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"`{path}` exists and was not written by this program",
            hint="move it away, or leave out `--entry-mode`",
        )


class PortTaken(NotStarted):
    """Somebody listens on the port already.

    Args:
        holders: One sentence part per listener: PID, command, folder, since when; what the system
            does not show is said as unknown.
        ours: PID of the one among them that is a gateway on record, with its name.
    """

    def __init__(
        self, port: int, holders: Sequence[str], *, ours: tuple[int, str] | None = None
    ) -> None:
        by = "; ".join(holders) if holders else "a process this user may not see"
        stop = "stop that one"
        if ours is not None:
            pid, name = ours
            stop = f"that is `{name}`, a gateway on record: `gateway-bench stop {pid}`"
        super().__init__(
            f"port {port} is taken by {by}",
            hint=f"{stop}, or leave out `--port` so that a free one is chosen",
        )
        self.port = port
        self.holders = tuple(holders)


class NoFreePort(NotStarted):
    """Every port that was tried is taken or reserved."""

    retryable = True

    def __init__(self, tried: int, low: int, high: int) -> None:
        super().__init__(
            f"none of {tried} ports tried between {low} and {high} is free",
            hint="name one with `--port`",
        )


class StartUnderWay(NotStarted):
    """Another start or stop of the same gateway holds its lock."""

    retryable = True

    def __init__(self, name: str, worktree: str, holder: str) -> None:
        super().__init__(
            f"`{name}` of `{worktree}` is being started or stopped by {holder}",
            hint="wait for it, or start another one beside it with `--name`",
        )


class AnotherIsUp(NotStarted):
    """The name is in use by a gateway that was described differently."""

    def __init__(self, name: str, pid: int, port: int, different: Sequence[str]) -> None:
        super().__init__(
            f"`{name}` is already up as PID {pid} on port {port}, "
            f"with another description: {', '.join(different)}",
            hint="stop it first, or start this one beside it with `--name`",
        )


class NotDetached(NotStarted):
    """An orphan of ours would be adopted by a process that ends with us."""

    def __init__(self, pid: int, name: str) -> None:
        super().__init__(
            f"the gateway would be adopted by PID {pid} (`{name}`) and die with it",
            hint="start from a shell that is no subreaper and not PID 1 of a container",
        )


class ExecFailed(NotStarted):
    """The system refused to execute the command.

    Args:
        step: What was being done: ``execve``, ``chdir``, ``open log``…
        number: The ``errno`` of the refusal.
    """

    def __init__(self, step: str, path: str, number: int, said: str) -> None:
        name = errno.errorcode.get(number, str(number))
        super().__init__(
            f"{step} of `{path}` was refused: {said} ({name})",
            hint="check the command, its working directory and their permissions",
        )
        self.number = number


def _with_tail(sentence: str, tail: Sequence[str], log: str) -> str:
    if not tail:
        return f"{sentence}; its log `{log}` is empty"
    lines = "\n".join(f"  | {line}" for line in tail)
    return f"{sentence}; the end of `{log}`:\n{lines}"


class DiedBeforeReady(NotStarted):
    """The gateway ended before it was ready."""

    def __init__(self, how: str, after_ms: float, tail: Sequence[str], log: str) -> None:
        super().__init__(
            _with_tail(f"the gateway {how}, {after_ms:.0f} ms after its start", tail, log),
            hint="run its command by hand in its folder to see the whole of it",
        )
        self.tail = tuple(tail)


class NeverReady(NotStarted):
    """The gateway lives, but its health never answered as expected from its own session.

    Args:
        said: What the last answers were, latest last.
    """

    def __init__(
        self, url: str, within_s: float, said: Sequence[str], tail: Sequence[str], log: str
    ) -> None:
        heard = "; ".join(said) if said else "nothing"
        sentence = f"`{url}` was not ready within {within_s:g} s; it heard: {heard}"
        super().__init__(
            _with_tail(sentence, tail, log),
            hint="check `--health` and `--health-status`, or give it longer: `--ready-timeout`",
        )
        self.said = tuple(said)


class NotVerified(OrchestratorError):
    """Whether the process is ours can't be shown; nothing was signalled."""

    exit_code = 3


class PidReused(NotVerified):
    """The PID is alive but belongs to another process; nothing was signalled.

    Args:
        is_chosen: The earlier start was typed by a person; else it is that of a record.
    """

    def __init__(
        self, pid: int, *, recorded_ticks: int, seen_ticks: int, is_chosen: bool = False
    ) -> None:
        whose = "the chosen process" if is_chosen else "our gateway"
        hint = "the gateway is gone; `gateway-bench status` shows what is left on record"
        super().__init__(
            f"PID {pid} was started at tick {seen_ticks}, {whose} at tick "
            f"{recorded_ticks}: the PID was reused",
            hint="type PID and start as `gateway-bench ps` prints them now" if is_chosen else hint,
        )


class ForeignProc(NotVerified):
    """``/proc`` numbers processes as another PID namespace does; a PID from it may be anybody's."""

    def __init__(self, here: int, there: int) -> None:
        super().__init__(
            f"`/proc` belongs to another PID namespace: we are PID {here}, and PID {there} in there",
            hint="mount it anew in this namespace: `mount -t proc proc /proc`",
        )


class IdentityUnknown(NotVerified):
    """The record speaks of a process that can't be compared from here."""

    def __init__(self, pid: int, why: str) -> None:
        super().__init__(
            f"whether PID {pid} is our gateway is unknown: {why}; nothing was signalled",
            hint="look at the process yourself before you end it",
        )


class RecordUnreadable(NotVerified):
    """A record can't be read, so nothing is done to what it speaks of."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"the record `{path}` {why}; nothing was signalled",
            hint="use the version that wrote it, or look at the processes and remove the file",
        )
        self.path = path
        self.why = why


class NotForUs(NotVerified):
    """A process that was chosen is not one that may be ended; nothing was signalled."""

    def __init__(self, pid: int, why: str) -> None:
        super().__init__(
            f"PID {pid} was left alone: {why}",
            hint="`gateway-bench ps` shows what may be removed, and how",
        )


class NotStopped(OrchestratorError):
    """Something is left after everything allowed was done.

    Args:
        pids: Who is left; empty = a process that can't be seen.
        port: What it holds; ``None`` = it survived SIGKILL.
    """

    exit_code = 3

    def __init__(self, pids: Sequence[int], *, port: int | None = None) -> None:
        who = ", ".join(f"PID {pid}" for pid in pids) or "a process out of sight"
        left = f"{who} survived SIGKILL" if port is None else f"port {port} is still held by {who}"
        super().__init__(
            f"the gateway could not be stopped completely: {left}",
            hint="run `gateway-bench stop` again; its record was kept",
        )
        self.pids = tuple(pids)
