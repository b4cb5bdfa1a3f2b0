"""The one place where a command's end becomes text, an object and an exit code.

Used by both packages: any exception with ``exit_code``, ``message`` and ``hint`` is a deliberate
error; click's are usage errors; everything else is a fault of this program (exit 1, fault file).
"""

import errno
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

import bench
from bench.cli.console import Console, point_at_nothing
from bench.cli.manners import json_file, manners_of
from bench.cli.outcome import Outcome, encode_outcome
from bench.cli.place import data_home
from bench.errors import reason_in

INTERRUPTED = 130
_REFUSED_MEMORY = ("can't start new thread", "failed to map segment from shared object")
"""What the interpreter and the system's loader say when they got none; they have no class of it."""
BROKEN_PIPE = 141
"""128 + SIGPIPE: what a program killed by its reader's going away shows."""


def run(group: click.Command, argv: Sequence[str], *, prog_name: str = "gateway-bench") -> int:
    """Run one command to its end and return the exit code.

    Args:
        group: The commands, or one command. Each returns an ``Outcome`` (or ``None``, or an exit code) and finds
            the ``Console`` as ``ctx.obj``.
        argv: Words after the program's name.
        prog_name: What the help calls this program.
    """
    _keep_streams_open()
    own = list(argv[: argv.index("--")]) if "--" in argv else list(argv)
    words, command = _command_of(group, own)
    manners = manners_of(command)
    wants_json = "--json" in own and not manners.json_goes_to_file
    console = Console(wants_json=wants_json, debug="--debug" in own)
    outcome = Outcome(exit_code=1)
    try:
        outcome = _outcome(group, argv, console, prog_name)
        own_failure = manners.failure(own)
        if outcome.is_fault and own_failure is not None:
            outcome = _passed_on(outcome, own_failure, console)
        outcome = _finish(words, outcome, console, json_file(manners, own))
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        point_at_nothing(1)
        return BROKEN_PIPE
    except OSError as refused:  # a full disk behind stdout, or nothing
        point_at_nothing(1)
        console.say(f"error: stdout can't be written: {reason_in(refused)}")
        return outcome.exit_code or 1
    return outcome.exit_code


def _passed_on(outcome: Outcome, exit_code: int, console: Console) -> Outcome:
    """Tell our own failure from the status of the command that we were to run."""
    console.say(f"class: {outcome.reason} ({outcome.exit_code})")
    return replace(
        outcome, exit_code=exit_code, detail={**outcome.detail, "class": outcome.exit_code}
    )


def _outcome(
    group: click.Command, argv: Sequence[str], console: Console, prog_name: str
) -> Outcome:
    """Return how the command ended, whatever way; what went wrong has been said on stderr."""
    try:
        # Not `group.main`: it turns a closed pipe into exit code 1 by itself.
        with group.make_context(prog_name, list(argv), obj=console) as context:
            ended = group.invoke(context)
    except BrokenPipeError:
        raise
    except click.exceptions.Exit as exit_asked:
        return Outcome(exit_code=exit_asked.exit_code)
    except (click.Abort, KeyboardInterrupt) as asked:
        console.say("error: interrupted")
        # 143 where a job's handler noted that it was SIGTERM.
        code = int(getattr(asked, "exit_code", INTERRUPTED))
        return Outcome(exit_code=code, reason="interrupted", headline="interrupted")
    except Exception as fault:  # noqa: BLE001  the border of the process: all ends are told apart here
        return _failure(fault, console)
    if isinstance(ended, Outcome):
        return ended
    return Outcome(exit_code=ended if isinstance(ended, int) else 0)


def _failure(fault: Exception, console: Console) -> Outcome:
    """Say what happened and what to do, and return it as an outcome."""
    if isinstance(fault, click.UsageError) and type(fault).__name__ == "NoArgsIsHelpError":
        console.say(fault.format_message())  # the help itself, not a sentence
        return Outcome(
            exit_code=2, reason="usage_fault", headline="no command was given", is_fault=True
        )
    if isinstance(fault, click.ClickException):
        message, hint, exit_code = _click_sentence(fault), _click_hint(fault), fault.exit_code
        reason = "usage_fault"
    elif isinstance(getattr(fault, "exit_code", None), int):
        message = str(getattr(fault, "message", fault))
        hint, exit_code = getattr(fault, "hint", None), int(fault.exit_code)  # type: ignore[attr-defined]
        reason = reason_of(type(fault))
    elif (refused := _own_limit(fault)) is not None:
        message, hint = refused
        reason, exit_code = "client_limit", 5
    else:
        return _unexpected(fault, console)
    if console.debug:
        console.say(_traceback(fault).rstrip())
    _say_error(console, message, hint)
    return Outcome(
        exit_code=exit_code,
        reason=reason,
        headline=console.clean(message),
        next=console.clean(hint) if hint else None,
        run_id=getattr(fault, "run_id", None),
        detail=getattr(fault, "detail", {}),
        is_fault=True,
        is_retryable=bool(getattr(fault, "retryable", False)),
    )


def _own_limit(fault: Exception) -> tuple[str, str] | None:
    """Return what this machine refused and what to do; ``None`` = the fault is another one."""
    is_memory = isinstance(fault, MemoryError) or getattr(fault, "errno", None) == errno.ENOMEM
    if is_memory or any(word in str(fault) for word in _REFUSED_MEMORY):
        message = "this machine's own limit: no more memory is given to this process"
        return message, "raise its limit (`ulimit -v`), or end what needs the memory"
    if isinstance(fault, OSError) and fault.errno in (errno.EMFILE, errno.ENFILE):
        message = f"this machine's own limit: {reason_in(fault)}"
        return message, "raise the limit on open files (`ulimit -n`), then type the command again"
    return None


def _unexpected(fault: Exception, console: Console) -> Outcome:
    told = console.clean(_traceback(fault))
    path = _write_fault(told)
    message = f"unexpected {type(fault).__name__}: {fault}"
    hint = f"this is a fault of gateway-bench; report it with `{path}`" if path else "report it"
    if console.debug:
        console.say(told.rstrip())
    _say_error(console, message, hint)
    files = (str(path),) if path else ()
    clean = console.clean(message)
    return Outcome(
        exit_code=1,
        reason="unexpected",
        headline=clean,
        files=files,
        next=console.clean(hint),
        is_fault=True,
    )


def _traceback(fault: Exception) -> str:
    from traceback import format_exception  # 10 ms that only faults pay

    return "".join(format_exception(fault))


def _say_error(console: Console, message: str, hint: str | None) -> None:
    console.say(f"error: {message}")
    if hint:
        console.say(f"hint: {hint}")


def _finish(command: str, outcome: Outcome, console: Console, file: Path | None) -> Outcome:
    """Put the data on stdout: the object, or the command's own text; or the object into a file."""
    if file is not None:
        try:
            file.write_bytes(console.clean(encode_outcome(command, outcome).decode()).encode())
        except OSError as refused:
            console.say(f"error: `{file}` could not be written: {refused.strerror}")
            return replace(outcome, exit_code=outcome.exit_code or 1)
    elif console.wants_json:
        console.data(encode_outcome(command, outcome).decode())
    elif outcome.text:
        console.data(outcome.text)
    return outcome


def _command_of(group: click.Command, own: Sequence[str]) -> tuple[str, click.Command | None]:
    """Return the words of the command, ``config show``, as far as ``group`` knows them, and it."""
    if not isinstance(group, click.Group):
        return group.name or "", group
    words: list[str] = []
    here: click.Command | None = group
    for word in own:
        if not isinstance(here, click.Group):
            break
        here = here.get_command(click.Context(here), word)
        if here is None:
            break
        words.append(word)
    typed = own[0] if own and not own[0].startswith("-") else ""
    return " ".join(words) or typed, here


def _click_sentence(fault: click.ClickException) -> str:
    message = fault.format_message().strip().rstrip(".")
    is_a_name = message[1:2].isupper()
    return message if is_a_name else message[:1].lower() + message[1:]


def _click_hint(fault: click.ClickException) -> str | None:
    context = fault.ctx if isinstance(fault, click.UsageError) else None
    return f"`{context.command_path} --help` shows how it is used" if context else None


def reason_of(kind: type[Exception]) -> str:
    """Return the `reason` of a class of errors: its name in the object's spelling."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind.__name__).lower()


def _write_fault(told: str) -> Path | None:
    """Keep the traceback where its finder can report it; ``None`` if no folder takes it."""
    from datetime import UTC, datetime
    from tempfile import gettempdir  # 15 ms that only faults pay

    now = datetime.now(tz=UTC)
    name = f"fault-{now:%Y%m%dT%H%M%S}-{os.getpid()}.txt"
    python = sys.version.split()[0]
    text = f"gateway-bench {bench.__version__}, Python {python}, {sys.platform}\n{told}"
    for folder in (data_home() / "gateway-bench" / "faults", Path(gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            (folder / name).write_text(text, encoding="utf-8")
        except OSError:
            continue
        return folder / name
    return None


def _keep_streams_open() -> None:
    """Point standard streams that the caller closed at nothing.

    Otherwise the next file that is opened, a journal perhaps, would take their number.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(nothing := os.open(os.devnull, os.O_RDWR), number)
            if nothing != number:
                os.close(nothing)
