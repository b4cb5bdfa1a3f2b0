"""Every case by id, and the named selections of cases."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bench.cases.calibrated import CALIBRATED_PROBABILITY
from bench.cases.coding import CODING_IDS
from bench.cases.concurrency import CONCURRENCIES
from bench.cases.false_critique import FALSE_CRITIQUE
from bench.cases.fixed_output import FIXED_OUTPUT_STREAM
from bench.cases.german import MULTILINGUAL_GERMAN
from bench.cases.grounded_ledger import GROUNDED_KNOWN, GROUNDED_UNKNOWN
from bench.cases.input_length import INPUT_LENGTHS
from bench.cases.instruction_hierarchy import INSTRUCTION_HIERARCHY
from bench.cases.long_context import LONG_CONTEXT_NEEDLES
from bench.cases.output_length import OUTPUT_LENGTHS
from bench.cases.problems import PROBLEMS
from bench.cases.reasoning_effort import REASONING_EFFORTS
from bench.cases.shortest_path import SHORTEST_PATH, SHORTEST_PATH_PARAPHRASE
from bench.cases.shortest_path_distractor import SHORTEST_PATH_DISTRACTOR
from bench.cases.structured_extraction import STRUCTURED_EXTRACTION
from bench.cases.tool_selection import TOOL_SELECTION
from bench.errors import UnknownName
from bench.model.case import Case, CaseKind, Difficulty
from bench.model.record import Record

_Entry = TypeVar("_Entry")

LISTED_BY = "gateway-bench cases"
DEFAULT_PROFILE = "smoke"

_CAPABILITY = (
    SHORTEST_PATH,
    SHORTEST_PATH_PARAPHRASE,
    SHORTEST_PATH_DISTRACTOR,
    STRUCTURED_EXTRACTION,
    GROUNDED_KNOWN,
    GROUNDED_UNKNOWN,
    LONG_CONTEXT_NEEDLES,
    *REASONING_EFFORTS,
    INSTRUCTION_HIERARCHY,
    MULTILINGUAL_GERMAN,
    FALSE_CRITIQUE,
    CALIBRATED_PROBABILITY,
    TOOL_SELECTION,
)
_PERFORMANCE = (FIXED_OUTPUT_STREAM,)
_LOAD = (*OUTPUT_LENGTHS, *INPUT_LENGTHS, *CONCURRENCIES)

CASES: Mapping[str, Case] = {
    case.info.id: case for case in (*_CAPABILITY, *PROBLEMS, *_PERFORMANCE, *_LOAD)
}
"""The cases that are code. Coding tasks are data, read where one is asked: see `CODING_IDS`."""

CASE_IDS = (*CASES, *CODING_IDS)
"""Of every case that ships."""


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


def _ids(cases: Iterable[Case]) -> tuple[str, ...]:
    return tuple(case.info.id for case in cases)


_SMOKE = _ids(
    (
        SHORTEST_PATH,
        SHORTEST_PATH_PARAPHRASE,
        STRUCTURED_EXTRACTION,
        GROUNDED_UNKNOWN,
        INSTRUCTION_HIERARCHY,
        TOOL_SELECTION,
        FIXED_OUTPUT_STREAM,
    )
)
_BUDGET_MS = 60_000.0
_CODING_BUDGET_MS = 300_000.0

PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="smoke",
            case_ids=_SMOKE,
            default_budget_ms=_BUDGET_MS,
            description="six short quality cases and one timed stream: is it up, sane and how fast?",
        ),
        Profile(
            name="standard",
            case_ids=_ids((*_CAPABILITY, *PROBLEMS, *_PERFORMANCE)),
            default_budget_ms=_BUDGET_MS,
            description="all quality cases and the timed stream: how good is it, and how fast?",
        ),
        Profile(
            name="load",
            case_ids=_ids(_LOAD),
            default_budget_ms=_BUDGET_MS,
            description="longer outputs, longer inputs, 1 to 16 requests at once: where does it slow?",
        ),
        Profile(
            name="coding",
            case_ids=CODING_IDS,
            default_budget_ms=_CODING_BUDGET_MS,
            description="small repositories to work on with tools: does it solve programming tasks?",
        ),
    )
}

SUITES: Mapping[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite(name="core", case_ids=_SMOKE, description="the same cases as profile `smoke`"),
        Suite(
            name="capability",
            case_ids=_ids(_CAPABILITY),
            description="what a model can do: reasoning, grounding, instructions, tools",
        ),
        Suite(
            name="quality",
            case_ids=_ids((*_CAPABILITY, *PROBLEMS)),
            description="`capability` and the fixed problems with computed answers",
        ),
        Suite(
            name="performance",
            case_ids=_ids(_PERFORMANCE),
            description="the timed stream alone",
        ),
        Suite(name="load", case_ids=_ids(_LOAD), description="the same cases as profile `load`"),
        Suite(name="coding", case_ids=CODING_IDS, description="the same cases as profile `coding`"),
    )
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
    table: Callable[[Iterable[str]], Mapping[str, Case]] = lambda _ids: CASES,
) -> tuple[Case, ...]:
    """Return the cases that were asked for, in the order of the selector or as typed.

    Args:
        profile: Name of a profile; with no selector at all, ``smoke``.
        suite: Name of a suite; not together with ``profile``.
        case_ids: Ids of cases; they replace the selection by profile or suite. Repeated ones
            count once.
        table: Ids → a table of cases that has those of them that there are.

    Raises:
        UnknownName: No such profile, suite or case; names near matches.
    """
    named: tuple[str, ...]
    if suite is not None:
        named = _known("suite", suite, SUITES).case_ids
    else:
        named = _known("profile", profile or DEFAULT_PROFILE, PROFILES).case_ids
    wanted = dict.fromkeys(case_ids or named)
    cases = table(wanted)
    return tuple(_known("case", case_id, cases) for case_id in wanted)


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
