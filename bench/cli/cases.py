"""`cases`: what there is to select."""

from collections.abc import Sequence

import click
import msgspec

from bench.cases import PROFILES, SUITES, CaseListing, list_cases
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand


@click.command("cases", cls=SectionedCommand)
@talking_options
def cases_command(**_talk: object) -> Outcome:
    """List the profiles, suites and cases that a run can be made of."""
    listed = list_cases()
    sets = [
        *((f"profile {profile.name}", profile.description) for profile in PROFILES.values()),
        *((f"suite {suite.name}", suite.description) for suite in SUITES.values()),
    ]
    return Outcome(
        headline=f"{len(PROFILES)} profile(s), {len(SUITES)} suite(s), {len(listed)} cases",
        detail={
            "profiles": {name: list(profile.case_ids) for name, profile in PROFILES.items()},
            "suites": {name: list(suite.case_ids) for name, suite in SUITES.items()},
            "cases": [msgspec.to_builtins(case) for case in listed],
        },
        text="\n".join([*_columns(sets), "", *_columns([_row(case) for case in listed])]),
        next="gateway-bench bench MODEL --profile NAME, or --case ID,ID",
    )


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
