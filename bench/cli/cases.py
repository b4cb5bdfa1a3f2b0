"""`cases`: what there is to select, and whether a folder of cases can be."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from bench.cases import CASE_IDS, PROFILES, SUITES, CaseListing, list_cases
from bench.cli.console import Console
from bench.cli.option_row import WHAT
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption
from bench.model.case import Case


@click.command("cases", cls=SectionedCommand)
@click.option(
    "--check",
    "checked",
    metavar="DIR|MOD:FUNC",
    multiple=True,
    cls=SectionedOption,
    section=WHAT,
    help="Read your own cases instead, say everything that is wrong with them. Repeatable.",
)
@talking_options
@click.pass_obj
def cases_command(console: Console, /, checked: tuple[str, ...], **_talk: object) -> Outcome:
    """List the profiles, suites, external suites and cases that a run can be made of."""
    if checked:
        return _check(checked, console)
    from bench.agent.registry import all_cases
    from bench.external import known_suites  # their judges: not for `--help`

    listed, external = list_cases(all_cases().values()), known_suites()
    sets = [
        *((f"profile {profile.name}", profile.description) for profile in PROFILES.values()),
        *((f"suite {suite.name}", suite.description) for suite in SUITES.values()),
        *((f"external {suite.name}", suite.description) for suite in external.values()),
    ]
    return Outcome(
        headline=f"{len(PROFILES)} profile(s), {len(SUITES)} suite(s), {len(external)} external "
        f"suite(s), {len(listed)} cases",
        detail={
            "profiles": {name: list(profile.case_ids) for name, profile in PROFILES.items()},
            "suites": {name: list(suite.case_ids) for name, suite in SUITES.items()},
            "external": {name: list(suite.modes) for name, suite in external.items()},
            "cases": [msgspec.to_builtins(case) for case in listed],
        },
        text="\n".join([*_columns(sets), "", *_columns([_row(case) for case in listed])]),
        next="gateway-bench bench MODEL --profile NAME, or --case ID,ID",
    )


def _check(sources: tuple[str, ...], console: Console) -> Outcome:
    """Read the user's cases; a fault in any of them is the command's."""
    from bench.usercases import load_cases

    cases = load_cases(sources, Path.cwd(), taken=CASE_IDS)
    listed = list_cases(cases)
    silent = [case.info.id for case in cases if case.build(1).book is None]
    count = "1 case" if len(cases) == 1 else f"{len(cases)} cases"
    console.say(f"{count}, nothing wrong")
    if silent:
        console.say(
            f"note: no right answer is known for {', '.join(silent[:5])}"
            f"{' and others' if len(silent) > 5 else ''}; the simulator can't play one"  # noqa: PLR2004
        )
    return Outcome(
        reason="checked",
        headline=f"{count}, nothing wrong",
        detail={
            "cases": [msgspec.to_builtins(case) for case in listed],
            "textHashes": {case.info.id: case.info.text_hash for case in cases},
            "withoutAnswer": silent,
        },
        text="\n".join(
            _columns(
                [(*_row(case), _first_words(own)) for case, own in zip(listed, cases, strict=True)]
            )
        ),
        next=f"gateway-bench bench MODEL --cases {sources[0]}",
    )


_MAX_WORDS = 60


def _first_words(case: Case) -> str:
    """Return how the case's first instance begins: what a reader recognises it by."""
    seed = case.info.seeds[0] if case.info.seeds else 1
    messages = case.build(seed).request.messages
    words = " ".join((messages[-1].content or "").split())
    shown = "".join(one if one.isprintable() else "?" for one in words)
    return shown if len(shown) <= _MAX_WORDS else shown[: _MAX_WORDS - 1] + "…"


def _row(case: CaseListing) -> tuple[str, ...]:
    warmups = f"+{case.warmup_runs}" if case.warmup_runs else ""
    runs = "1 run" if case.runs == 1 and not warmups else f"{case.runs}{warmups} runs"
    return (case.id, case.kind, case.difficulty or "", runs, case.description or "")


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the rows as lines whose columns stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
