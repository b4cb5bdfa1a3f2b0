"""What commands that measure have in common: the log, the progress, the job's line, the end."""

import logging
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import click

from bench.app import Outcome as RunOutcome
from bench.cli.console import Console
from bench.cli.going_on import NOTHING_MORE, Again
from bench.cli.outcome import Outcome
from bench.clock import SystemClock
from bench.errors import Interrupted
from bench.link import LINK_VARIABLE, JobLink
from bench.ports import Clock
from bench.progress import Mode, Progress

_RESUMABLE = frozenset({4, 5, 130, 143})
_MORE = {"budget": "--no-budget", "max_cost": "--max-cost USD"}
"""What a limit that ended a run has to become before `resume` can ask anything."""
_WIDEST = 160
"""Columns beyond which a summary table is no easier to read."""


class _Clean(logging.Formatter):
    """Log lines without secrets."""

    def __init__(self, console: Console) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")
        self._console = console

    def format(self, record: logging.LogRecord) -> str:  # type: ignore[explicit-override]
        """Return the line, masked."""
        return self._console.clean(super().format(record))


def set_up_log(verbose: int, console: Console) -> None:
    """Send the log to stderr: warnings, with `-v` information, with `-vv` everything of ours."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Clean(console))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.getLogger("bench").setLevel(level)


def accept_link(clock: Clock, console: Console) -> JobLink | None:
    """Return the line to the job that started the gateway; ``None`` = there is no job.

    The variable is taken out of the environment: no child of ours inherits the line.
    """
    descriptor = os.environ.pop(LINK_VARIABLE, None)
    if descriptor is None:
        return None
    if not descriptor.isdecimal():
        message = f"`{LINK_VARIABLE}={descriptor}` is no descriptor"
        raise click.UsageError(message)
    return JobLink.accept(int(descriptor), clock, clean=console.without_secrets)


def show_progress(*, quiet: bool) -> Progress:
    """Return the display: a bar on a terminal, a line now and then elsewhere, or nothing."""
    mode: Mode = "quiet" if quiet else "bar" if sys.stderr.isatty() else "lines"
    return Progress(sys.stderr, mode, width=terminal_width(), clock=SystemClock())


def terminal_width() -> int:
    """Return the columns of the terminal that people read, at most 160.

    That is stderr's: stdout is often a file or a pipe.
    """
    columns = 0
    if not os.environ.get("COLUMNS"):
        with suppress(OSError, ValueError):
            columns = os.get_terminal_size(sys.stderr.fileno()).columns
    return min(columns or shutil.get_terminal_size().columns, _WIDEST)


def is_interactive() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirmed(question: str) -> bool:
    """Ask on stderr; no answer means no."""
    return click.confirm(question, default=False, err=True)


def chosen(found: str) -> Literal["resume", "again", "stop"]:
    """Ask what to do about an unfinished run of the same plan."""
    answer = click.prompt(
        f"{found}: resume it, pay again, or stop?",
        type=click.Choice(["resume", "again", "stop"]),
        default="resume",
        err=True,
    )
    return "resume" if answer == "resume" else "again" if answer == "again" else "stop"


def _broken(line: str) -> str:
    """Break a line between words on a terminal; elsewhere it stays one."""
    from bench.report.escaping import wrap  # with every report: loaded when the run has ended

    return "\n".join(wrap(line, terminal_width(), indent="  ")) if sys.stderr.isatty() else line


def carried_out(run: Callable[[], RunOutcome], console: Console, again: Again) -> Outcome:
    """Carry a run out and tell a person how it ended.

    Args:
        run: Returns how.
        console: Talks.
        again: What goes on with it needs besides the journal.

    Raises:
        Interrupted: With that too.
        BenchError: As ``run`` does.
    """
    try:
        outcome = run()
    except Interrupted as twice:
        command = again.command(twice.journal)
        raise Interrupted(twice.journal, run_id=twice.run_id, going_on=command) from twice
    return ended(outcome, console, again)


def ended(outcome: RunOutcome, console: Console, again: Again = NOTHING_MORE) -> Outcome:
    """Tell a person how it ended, headline first, and return the data: the files' paths.

    Args:
        outcome: Of the run, or of rendering it.
        console: Talks.
        again: What goes on with it needs besides the journal.
    """
    console.say(outcome.summary_text.rstrip() or outcome.headline)
    for note in outcome.notes:
        console.say(_broken(f"warning: {note}"))
    files = tuple(str(path) for path in outcome.files)
    command = None
    by_day = outcome.is_day_limited and outcome.reason == "max_cost"
    more = None if by_day else _MORE.get(outcome.reason)
    if (outcome.exit_code in _RESUMABLE or more) and outcome.journal is not None:
        if None not in (outcome.planned, outcome.done) and outcome.planned == outcome.done:
            console.say(
                "hint: nothing is left to resume; see the errors, then type the command again"
            )
        else:
            command = again.command(str(outcome.journal), *([more] if more else []))
            when = ", once a new day (UTC) or a higher `max-cost-per-day` leaves room"
            needs = again.note() + (when if by_day else "")
            console.say(f"hint: `{command}` asks what is missing{needs}")
    elif outcome.reason == "report_failed" and outcome.journal is not None:
        command = f"gateway-bench render {shlex.quote(str(outcome.journal))}"
        console.say(f"hint: `{command}` makes every file again, without one request")
    return Outcome(
        exit_code=outcome.exit_code,
        reason=outcome.reason,
        run_id=outcome.run_id,
        headline=console.clean(outcome.headline),
        planned=outcome.planned,
        done=outcome.done,
        failed=outcome.failed,
        spent_usd=outcome.spent_usd,
        files=files,
        next=command,
        detail={**outcome.detail, **({"notes": list(outcome.notes)} if outcome.notes else {})},
        text="\n".join(files),
    )
