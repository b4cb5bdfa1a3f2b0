"""Every case by id, and the named selections of cases."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bench.cases.fixed_output import FIXED_OUTPUT_STREAM
from bench.cases.grounded_ledger import GROUNDED_UNKNOWN
from bench.cases.instruction_hierarchy import INSTRUCTION_HIERARCHY
from bench.cases.shortest_path import SHORTEST_PATH, SHORTEST_PATH_PARAPHRASE
from bench.cases.structured_extraction import STRUCTURED_EXTRACTION
from bench.cases.tool_selection import TOOL_SELECTION
from bench.errors import UnknownName
from bench.model.case import Case, CaseKind, Difficulty
from bench.model.record import Record

_Entry = TypeVar("_Entry")

LISTED_BY = "gateway-bench cases"
DEFAULT_PROFILE = "smoke"

CASES: Mapping[str, Case] = {
    case.info.id: case
    for case in (
        SHORTEST_PATH,
        SHORTEST_PATH_PARAPHRASE,
        STRUCTURED_EXTRACTION,
        GROUNDED_UNKNOWN,
        INSTRUCTION_HIERARCHY,
        TOOL_SELECTION,
        FIXED_OUTPUT_STREAM,
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A named set of cases with its defaults."""

    name: str
    case_ids: tuple[str, ...]
    default_budget_ms: float | None
    """The engine's budget per target; commands have defaults of their own. ``None`` = unlimited."""
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The older selector: a named set of cases without defaults."""

    name: str
    case_ids: tuple[str, ...]
    description: str


_SMOKE = tuple(CASES)

PROFILES: Mapping[str, Profile] = {
    "smoke": Profile(
        name="smoke",
        case_ids=_SMOKE,
        default_budget_ms=60_000.0,
        description="six short quality cases and one timed stream: is it up, sane and how fast?",
    ),
}

SUITES: Mapping[str, Suite] = {
    "core": Suite(name="core", case_ids=_SMOKE, description="the same cases as profile `smoke`"),
}


class CaseListing(Record, frozen=True, kw_only=True):
    """One line of the list of cases."""

    id: str
    kind: CaseKind
    category: str | None
    difficulty: Difficulty | None
    runs: int
    warmup_runs: int
    max_tokens: int | None
    """Token limit of one request; ``None`` = none is sent."""
    profiles: tuple[str, ...]
    suites: tuple[str, ...]
    description: str | None


def select_cases(
    *,
    profile: str | None = None,
    suite: str | None = None,
    case_ids: Sequence[str] = (),
) -> tuple[Case, ...]:
    """Return the cases that were asked for, in the order of the selector or as typed.

    Args:
        profile: Name of a profile; with no selector at all, ``smoke``.
        suite: Name of a suite; not together with ``profile``.
        case_ids: Ids of cases; they replace the selection by profile or suite. Repeated ones
            count once.

    Raises:
        UnknownName: No such profile, suite or case; names near matches.
    """
    named: tuple[str, ...]
    if suite is not None:
        named = _known("suite", suite, SUITES).case_ids
    else:
        named = _known("profile", profile or DEFAULT_PROFILE, PROFILES).case_ids
    wanted = dict.fromkeys(case_ids or named)
    return tuple(_known("case", case_id, CASES) for case_id in wanted)


def list_cases(cases: Iterable[Case] = tuple(CASES.values())) -> tuple[CaseListing, ...]:
    """Return what a list of ``cases`` shows, in their order."""
    return tuple(
        CaseListing(
            id=case.info.id,
            kind=case.info.kind,
            category=case.info.category,
            difficulty=case.info.difficulty,
            runs=case.info.runs,
            warmup_runs=case.info.warmup_runs,
            max_tokens=case.build(1).request.max_tokens,
            profiles=_holding(case.info.id, PROFILES),
            suites=_holding(case.info.id, SUITES),
            description=case.description,
        )
        for case in cases
    )


def _known(kind: str, name: str, table: Mapping[str, _Entry]) -> _Entry:
    if name not in table:
        raise UnknownName(kind, name, tuple(table), listed_by=LISTED_BY)
    return table[name]


def _holding(case_id: str, table: Mapping[str, Profile] | Mapping[str, Suite]) -> tuple[str, ...]:
    return tuple(name for name, entry in table.items() if case_id in entry.case_ids)
