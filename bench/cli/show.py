"""`show`: what a run is, whether it can be trusted, how it was made; writes nothing."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.cli.console import Console
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption

if TYPE_CHECKING:
    from bench.model.document import Document
    from bench.report.trial_cards import TrialLine

_OPEN_ENDS = {
    "in-flight": "still in flight, at the most it can cost",
    "lost": "lost without an answer",
}
_VIEWS = "Instead of the whole run"


@click.command("show", cls=SectionedCommand)
@click.argument("run")
@click.option(
    "--failed",
    is_flag=True,
    cls=SectionedOption,
    section=_VIEWS,
    help="The trials that failed, answered wrong or were set aside.",
)
@click.option(
    "--slowest",
    type=click.IntRange(1),
    metavar="N",
    cls=SectionedOption,
    section=_VIEWS,
    help="The N trials that took longest, failed ones too.",
)
@click.option(
    "--trial",
    metavar="ID",
    cls=SectionedOption,
    section=_VIEWS,
    help="Everything about one trial: TARGET|CASE|r1, or the end of an id.",
)
@click.option(
    "--billing",
    is_flag=True,
    cls=SectionedOption,
    section=_VIEWS,
    help="Every request as CSV: ids, tokens, cost and who says so.",
)
@talking_options
@click.pass_obj
def show_command(console: Console, /, run: str, verbose: int, **views: Any) -> Outcome:  # noqa: ANN401  options
    """Show RUN: what it is, whether it can be trusted, and how it was made. Writes nothing.

    RUN is a .json or .jsonl file, a run id, latest, latest~1, or a commit of the gateway's build.
    """
    from bench.app.rendering import read_run
    from bench.cli.place import named_run
    from bench.cli.talk import set_up_log

    chosen = [name for name in ("failed", "slowest", "trial", "billing") if views.get(name)]
    if len(chosen) > 1:
        named = " and ".join(f"`--{name}`" for name in chosen)
        message = f"{named} exclude each other"
        raise click.UsageError(message)
    set_up_log(verbose, console)
    view = chosen[0] if chosen else None
    if view == "billing":
        return _billing(named_run(run, needs_journal=True).path)
    path = named_run(run, needs_journal=False).path
    document = read_run(path)
    if view == "trial":
        return _trial(document, views["trial"])
    if view is not None:
        listed = _list(document, view, views["slowest"])
        console.say(listed.headline)
        return listed
    return _card(document, path)


def _card(document: "Document", path: Path) -> Outcome:
    from msgspec import to_builtins

    from bench.cli.talk import terminal_width
    from bench.report import headline
    from bench.report.run_card import run_card
    from bench.report.verdict import trust_level

    done = document.completeness
    typed = {name: it for name, it in document.options.items() if it.origin != "default"}
    return Outcome(
        run_id=document.run_id,
        headline=headline(document),
        planned=done.planned,
        done=done.done,
        failed=done.failed,
        spent_usd=document.spend.total_usd,
        detail={
            "file": str(path.absolute()),
            "trust": trust_level(document),
            "caveats": [to_builtins(caveat) for caveat in document.trust],
            "startedAt": document.started_at,
            "finishedAt": document.finished_at,
            "url": document.config.url,
            "targets": [target.id for target in document.targets],
            "endedBy": done.reason,
            "spend": to_builtins(document.spend),
            "build": dict(document.gateway.build) if document.gateway else None,
            "settings": [{"name": name, **to_builtins(it)} for name, it in typed.items()],
        },
        text=run_card(document, width=terminal_width()).rstrip("\n"),
        next="`--failed`, `--slowest N`, `--trial ID` and `--billing` show more",
    )


def _list(document: "Document", view: str, count: int | None) -> Outcome:
    from bench.report.figures import counted
    from bench.report.trial_cards import failed_lines, slowest_lines

    is_failed = view == "failed"
    lines = failed_lines(document) if is_failed else slowest_lines(document, count or 1)
    said = "failed, wrong or set aside" if is_failed else "shown, the slowest first"
    return Outcome(
        run_id=document.run_id,
        headline=f"{counted(len(lines), 'trial')} {said}",
        detail={"trials": [_object(line) for line in lines]},
        text="\n".join(line.text() for line in lines),
    )


def _object(line: "TrialLine") -> dict[str, object]:
    return {"id": line.id, "what": line.what, "totalMs": line.total_ms, "ttftMs": line.ttft_ms}


def _trial(document: "Document", name: str) -> Outcome:
    from msgspec import to_builtins

    from bench.cli.talk import terminal_width
    from bench.report.trial_cards import brief, find_trial, trial_card

    trial = find_trial(document, name)
    return Outcome(
        run_id=document.run_id,
        headline=f"trial {trial.id}: {trial.outcome}",
        detail={"trial": to_builtins(brief(trial))},
        text=trial_card(trial, width=terminal_width()).rstrip("\n"),
    )


def _billing(path: Path) -> Outcome:
    from bench.app.rendering import read_run_journal
    from bench.report.billing import billing_csv, billing_rows

    ledger, is_going_on = read_run_journal(path)
    rows = billing_rows(ledger, is_going_on=is_going_on)
    ends = Counter(row["end"] for row in rows)
    open_ones = [f"{ends[end]} {told}" for end, told in _OPEN_ENDS.items() if ends[end]]
    return Outcome(
        run_id=ledger.header.run_id,
        headline=", ".join(
            (f"{len(rows)} request{'' if len(rows) == 1 else 's'} sent", *open_ones)
        ),
        spent_usd=ledger.spent_usd,
        detail={"billing": list(rows)},
        text=billing_csv(rows).rstrip("\n"),
    )
