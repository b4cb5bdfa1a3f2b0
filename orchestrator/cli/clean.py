"""`clean`: remove strays of ours; shows what it would do unless told `--yes`."""

import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from bench.cli.console import Console
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption
from bench.durations import duration_ms
from orchestrator.app import checkouts, machine
from orchestrator.cleaning import Removed, clean
from orchestrator.cli.stop import run_described_teardown, run_recorded_teardown
from orchestrator.errors import OrchestratorError
from orchestrator.interrupts import Interrupts
from orchestrator.leftovers import Leftover, holds_tree, leftovers, remove
from orchestrator.lifecycle import Machine
from orchestrator.preparations import forgotten_preparations, is_preparation, undo_preparations
from orchestrator.records import GatewayRecord, Preparation
from orchestrator.removals import Pick, Removal, Wish, removals
from orchestrator.stray_lines import HIDDEN_BY_DEFAULT, bounded, stray_facts, table
from orchestrator.survey import survey
from orchestrator.trees import forgotten_trees, remove_trees
from orchestrator.wanted import worktree_of

_WHAT = "What is removed"
_NOT_REMOVED = 3
_OLDER_THAN = "10m"
_F = TypeVar("_F", bound=Callable[..., Any])


def _option(*spellings: str, **more: Any) -> Callable[[_F], _F]:  # noqa: ANN401  passed on to click
    return click.option(*spellings, cls=SectionedOption, section=_WHAT, **more)


@click.command("clean", cls=SectionedCommand)
@_option("--yes", is_flag=True, help="Do it. Without it only what would be done is shown.")
@_option("--mine", is_flag=True, help="Only what runs from this worktree.")
@_option(
    "--gateway",
    "folder",
    metavar="DIR",
    help="A folder of the worktree that `--mine` means. Default: the working directory.",
)
@_option(
    "--older-than",
    metavar="TIME",
    default=_OLDER_THAN,
    help="Only what has been up and unused for so long. Default: 10m.",
)
@_option(
    "--pid", "pids", type=int, multiple=True, metavar="N", help="Only this one, a suspect too."
)
@_option(
    "--start",
    "starts",
    type=int,
    multiple=True,
    metavar="T",
    help="The start of that PID, as `ps` printed it; once for each `--pid`.",
)
@talking_options
@click.pass_obj
def clean_command(console: Console, /, **params: Any) -> Outcome:  # noqa: ANN401  option values arrive as click reads them
    """Remove gateways of ours that nobody uses, and what carries our marker without a record.

    Never what a run uses, another user's, a container's, ourselves, or anything merely for its
    name, folder, parent or port. A suspect is removed only by `--pid` with the `--start` that
    `ps` printed. A record that could not be verified stays.
    """
    here = machine(console.without_secrets)
    wish = _wish(params)
    wanted = removals(survey(here, near=str(Path.cwd())), wish)
    is_whole = wish.worktree is None and not wish.picks
    files = _left(here, wanted, wish.older_than_s) if is_whole else ()
    if not params["yes"]:
        return _dry_run(wanted, files, command=_command(params))
    return _acted(here, console, wanted, files)


def _left(here: Machine, wanted: tuple[Removal, ...], older_than_s: float) -> tuple[Leftover, ...]:
    """Return the files that may go, and the working trees once the gateways are gone."""
    going = frozenset(
        one.stray.record.id
        for one in wanted
        if one.action != "keep" and one.stray.record is not None
    )
    trees = forgotten_trees(here, older_than_s=older_than_s, going=going)
    prepared = forgotten_preparations(here, older_than_s=older_than_s)
    return (*prepared, *leftovers(here, older_than_s=older_than_s), *trees)


def _wish(params: dict[str, Any]) -> Wish:
    pids, starts = params["pids"], params["starts"]
    if len(pids) != len(starts):
        message = f"{len(pids)} `--pid` and {len(starts)} `--start`: each PID needs its start"
        raise click.UsageError(message)
    try:
        older_than_s = duration_ms(params["older_than"]) / 1000
    except ValueError as fault:
        raise click.UsageError(f"`--older-than {params['older_than']}`: {fault}") from fault  # noqa: EM102
    mine = worktree_of(Path(params["folder"] or Path.cwd())) if params["mine"] else None
    return Wish(
        older_than_s=older_than_s,
        worktree=None if mine is None else str(mine),
        picks=tuple(Pick(pid=pid, start=start) for pid, start in zip(pids, starts, strict=True)),
    )


def _command(params: Mapping[str, Any]) -> str:
    """Return the command that does what this one shows, typed from any folder."""
    words = ["gateway-bench", "clean", "--yes"]
    if params["mine"]:
        words += ["--mine", "--gateway", str(Path(params["folder"] or Path.cwd()).absolute())]
    if params["older_than"] != _OLDER_THAN:
        words += ["--older-than", params["older_than"]]
    for pid, start in zip(params["pids"], params["starts"], strict=True):
        words += ["--pid", str(pid), "--start", str(start)]
    return shlex.join(words)


def _dry_run(wanted: tuple[Removal, ...], files: tuple[Leftover, ...], *, command: str) -> Outcome:
    chosen = [one for one in wanted if one.action != "keep"]
    headline = f"{_counted(len(chosen), len(files), 'would be removed')}; nothing was done"
    lines = []
    if chosen:
        lines += [_table(chosen), ""]
    lines += [f"would remove `{one.name}`: {one.why}" for one in files]
    lines += [headline, *_left_alone(wanted), *(["`--yes` does it"] if chosen or files else [])]
    return Outcome(
        reason="dry_run",
        headline=headline,
        next=command if chosen or files else None,
        detail=_detail([(one, None) for one in wanted], files, did_act=False),
        text="\n".join(lines),
    )


def _left_alone(wanted: tuple[Removal, ...]) -> list[str]:
    """Say how many are left alone, and why; those of others are not counted."""
    counted = Counter(
        one.why
        for one in wanted
        if one.action == "keep" and one.stray.verdict not in HIDDEN_BY_DEFAULT
    )
    return [f"left alone: {count}, {why}" for why, count in counted.most_common()]


def _table(chosen: list[Removal]) -> str:
    width = shutil.get_terminal_size((100, 24)).columns
    return table([one.stray for one in chosen], width=width, home=str(Path.home()))


def _acted(
    here: Machine, console: Console, wanted: tuple[Removal, ...], files: tuple[Leftover, ...]
) -> Outcome:
    interrupts = Interrupts()
    with interrupts.installed():
        done = clean(
            here,
            wanted,
            is_ended=lambda: interrupts.exit_code is not None,
            tidy=lambda record: _tear_down(here, record, console),
        )
        gone = _removed(here, files, console) if interrupts.exit_code is None else ()
    for one in done:
        console.say(_said(one))
    failed = [one for one in done if one.fault is not None]
    count = sum(one.is_done for one in done)
    headline = _counted(count, len(gone), "removed")
    if failed:
        headline += f"; {len(failed)} could not be removed"
    if interrupts.exit_code is not None:
        headline += "; interrupted, the rest is left"
    said = {id(one.removal): one for one in done}
    return Outcome(
        exit_code=interrupts.exit_code or (_NOT_REMOVED if failed else 0),
        reason="interrupted" if interrupts.exit_code else "not_removed" if failed else "cleaned",
        headline=headline,
        failed=len(failed),
        next="gateway-bench ps" if failed or interrupts.exit_code else None,
        detail=_detail([(one, said.get(id(one))) for one in wanted], gone, did_act=True),
        text=headline,
    )


def _removed(here: Machine, files: tuple[Leftover, ...], console: Console) -> tuple[Leftover, ...]:
    prepared = tuple(one for one in files if is_preparation(one))
    trees = tuple(one for one in files if holds_tree(here, one.name))
    plain = tuple(one for one in files if one not in trees and one not in prepared)
    undone = undo_preparations(here, prepared, lambda note: _tear_down(here, note, console))
    return (*undone, *remove(here, plain), *remove_trees(here, checkouts(), trees))


def _tear_down(here: Machine, left: GatewayRecord | Preparation, console: Console) -> None:
    """Run what `stop` would run after it; that it went wrong is told, the gateway is gone."""
    # Many folders are gone through: none of them gets to ask whether it is trusted.
    silent = replace(console, wants_json=True)
    try:
        if isinstance(left, Preparation):
            run_described_teardown(here, left, silent)
        else:
            run_recorded_teardown(here, left, silent)
    except OrchestratorError as fault:
        console.say(f"warning: {fault.message}")


def _said(one: Removed) -> str:
    stray = one.removal.stray
    who = f"`{stray.name}` (PID {stray.pid})" if stray.name else f"PID {stray.pid}"
    where = f" of `{stray.worktree}`" if stray.worktree else ""
    if one.fault is not None:
        return f"error: {who}{where}: {one.why}"
    return f"{who}{where}: {one.why}" if one.is_done else f"{who}{where} was left alone: {one.why}"


def _counted(strays: int, files: int, verb: str) -> str:
    gateways = f"{strays} gateway{'' if strays == 1 else 's'}"
    left = f" and {files} file{'' if files == 1 else 's'}" if files else ""
    return f"{gateways}{left} {verb}"


def _detail(
    pairs: list[tuple[Removal, Removed | None]], files: tuple[Leftover, ...], *, did_act: bool
) -> dict[str, Any]:
    rows = []
    for removal, removed in sorted(pairs, key=lambda pair: pair[0].action == "keep"):
        row = {
            **stray_facts(removal.stray),
            "action": removal.action,
            "because": removal.why,
        }
        if removed is not None:
            row |= {"done": removed.is_done, "said": removed.why}
        rows.append(row)
    kept, left_off = bounded(rows)
    return {
        "acted": did_act,
        "gateways": kept,
        "total": len(rows),
        "leftOff": left_off,
        "files": len(files),
    }
