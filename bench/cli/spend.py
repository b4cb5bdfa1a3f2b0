"""`spend`: money over time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.charges import Spend
from bench.cli.console import Console
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption
from bench.spending import DatedCharge, SpendRow, dated_charges, summed

if TYPE_CHECKING:
    from bench.runs import Shelf

_WHAT = "What is counted"
_SPAN = re.compile(r"(\d+)(h|d|w)")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24}
_LONGEST_HOURS = 24 * 366 * 10
_CENT = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the kept journals tell."""

    charges: tuple[DatedCharge, ...]
    free_runs: int
    notes: tuple[str, ...]
    """Journals that can't be read."""


@click.command("spend", cls=SectionedCommand)
@click.option(
    "--since",
    metavar="TIME",
    default="7d",
    show_default=True,
    cls=SectionedOption,
    section=_WHAT,
    help="From when on: 12h, 7d, 4w ago, or a UTC date such as 2026-11-30.",
)
@click.option(
    "--everywhere",
    is_flag=True,
    cls=SectionedOption,
    section=_WHAT,
    help="Every run of yours, whatever its repository.",
)
@talking_options
@click.pass_obj
def spend_command(
    console: Console, /, since: str, *, everywhere: bool, verbose: int, **_talk: object
) -> Outcome:
    """What paid runs have cost, by day and by model, over all worktrees of this repository.

    Read from the journals in your data folder, so runs made with --no-archive are not in it. What
    nobody knows is counted as requests of unknown cost, never as 0.
    """
    from bench.cli.agreeing import day_account
    from bench.cli.place import archive_folder
    from bench.cli.talk import set_up_log
    from bench.clock import SystemClock
    from bench.config import find_git_root
    from bench.repository import common_folder
    from bench.runs import Shelf

    set_up_log(verbose, console)
    folder = Path.cwd()
    begin = _moment(since, SystemClock().utcnow())
    repository = None if everywhere else common_folder(find_git_root(folder))
    found = _read(
        Shelf(archive=archive_folder(), folder=folder, repository=repository), since=begin
    )
    for note in found.notes:
        console.say(f"warning: {note}")
    account = day_account()
    today = None
    if account is not None:
        use = account.use()
        today = {
            "spentUsd": use.spent_usd,
            "claimedUsd": use.claimed_usd,
            "limitUsd": account.limit_usd,
        }
    return _told(found, begin, repository, today)


def _moment(text: str, now: datetime) -> datetime:
    """Return when to begin, UTC.

    Raises:
        click.UsageError: The text is no time.
    """
    span = _SPAN.fullmatch(text.strip())
    if span is not None and int(span[1]) * _HOURS[span[2]] <= _LONGEST_HOURS:
        return now - timedelta(hours=int(span[1]) * _HOURS[span[2]])
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        message = f"`--since {text}`: a time such as `12h`, `7d`, `4w` or `2026-11-30` is needed"
        raise click.UsageError(message) from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _read(shelf: "Shelf", *, since: datetime) -> _Found:
    from bench.errors import BenchError
    from bench.journal import read_journal
    from bench.runs import kept_journals

    charges: list[DatedCharge] = []
    notes: list[str] = []
    free = 0
    for path in kept_journals(shelf, since=since.timestamp()):
        try:
            ledger = read_journal(path)
        except (BenchError, OSError) as fault:
            notes.append(f"`{path}` is left out: {getattr(fault, 'message', fault)}")
            continue
        if ledger.header.config.is_paid:
            charges += dated_charges(ledger, since=since)
        else:
            free += 1
    return _Found(
        charges=tuple(sorted(charges, key=lambda dated: dated.at)),
        free_runs=free,
        notes=tuple(notes),
    )


def _told(
    found: _Found, begin: datetime, repository: Path | None, today: dict[str, float] | None
) -> Outcome:
    from bench.report.figures import source_words

    total = Spend.of(dated.charge for dated in found.charges)
    runs = summed(found.charges, lambda dated: dated.run_id)
    days = summed(found.charges, lambda dated: dated.day)
    models = sorted(
        summed(found.charges, lambda dated: dated.model_id), key=lambda row: -row.spend.known_usd
    )
    where = f"in `{repository.parent}`" if repository else "anywhere"
    free = f"; {found.free_runs} free left out" if found.free_runs else ""
    count = f"{len(runs)} paid run{'' if len(runs) == 1 else 's'}"
    spent = f"{_amount(total)} in {count}" if runs else "nothing was paid"
    headline = f"{spent} {where} since {begin:%Y-%m-%d %H:%M} UTC{free}"
    lines = [headline]
    if found.charges:
        lines += ["", *_table("day (UTC)", days), "", *_table("model", models)]
        lines += [
            "",
            *(f"{_usd(usd)} {source_words(source)}" for source, usd in total.by_source.items()),
        ]
    if today is not None:
        lines += ["", _day_line(today)]
    return Outcome(
        headline=headline,
        spent_usd=None if total.unknown_requests else total.known_usd,
        detail={
            "since": begin.isoformat(timespec="seconds"),
            "repository": str(repository) if repository else None,
            "knownUsd": total.known_usd,
            "unknownRequests": total.unknown_requests,
            "reservedUsd": total.reserved_usd,
            "bySource": dict(total.by_source),
            "freeRuns": found.free_runs,
            "today": today,
            "days": [_object("day", row) for row in days],
            "models": [_object("model", row) for row in models],
            "runs": [_object("runId", row) for row in reversed(runs)],
            "notes": list(found.notes),
        },
        text="\n".join(lines),
    )


def _object(key: str, row: SpendRow) -> dict[str, object]:
    return {
        key: row.key,
        "requests": row.requests,
        "knownUsd": row.spend.known_usd,
        "unknownRequests": row.spend.unknown_requests,
        "reservedUsd": row.spend.reserved_usd,
    }


def _table(head: str, rows: Sequence[SpendRow]) -> list[str]:
    """Return the rows as lines whose columns stand below each other."""
    width = max(len(head), *(len(row.key) for row in rows))
    lines = [f"{head.ljust(width)}  {'requests':>8}  {'US dollars':>12}"]
    for row in rows:
        spend = row.spend
        line = f"{row.key.ljust(width)}  {row.requests:>8}  {_usd(spend.known_usd):>12}"
        lines.append(f"{line}  {_doubt(spend)}".rstrip())
    return lines


def _doubt(spend: Spend) -> str:
    said = []
    if spend.unknown_requests:
        requests = "request" if spend.unknown_requests == 1 else "requests"
        said.append(f"and {spend.unknown_requests} {requests} of unknown cost")
    if spend.reserved_usd:
        said.append(f"{_usd(spend.reserved_usd)} of it reserved")
    return ", ".join(said)


def _amount(spend: Spend) -> str:
    return f"{'at least ' if spend.unknown_requests else ''}{_usd(spend.known_usd)}"


def _usd(amount: float) -> str:
    from bench.report.figures import usd  # reports: not for `--help`

    return f"${amount:,.4f}" if amount >= _CENT or not amount else usd(amount)


def _day_line(today: dict[str, float]) -> str:
    going_on = today["claimedUsd"]
    claimed = f", up to {_usd(going_on)} in runs that are going on" if going_on else ""
    return f"today (UTC): {_usd(today['spentUsd'])}{claimed}, limit {_usd(today['limitUsd'])}"
