"""Every case by id, and the named selections of cases."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TypeVar

from bench.cases.coding import CODING_IDS
from bench.errors import UnknownName
from bench.model.case import Case, CaseKind, Difficulty
from bench.model.record import Record, Value

_Entry = TypeVar("_Entry")

LISTED_BY = "gateway-bench cases"
DEFAULT_PROFILE = "smoke"

_CAPABILITY = {
    "seeded_shortest_path": "shortest_path",
    "seeded_shortest_path_paraphrase": "shortest_path",
    "seeded_shortest_path_distractor": "shortest_path_distractor",
    "seeded_structured_extraction": "structured_extraction",
    "seeded_grounded_known": "grounded_ledger",
    "seeded_grounded_unknown": "grounded_ledger",
    "seeded_long_context_needles": "long_context",
    "reasoning_effort_none": "reasoning_effort",
    "reasoning_effort_low": "reasoning_effort",
    "reasoning_effort_high": "reasoning_effort",
    "instruction_hierarchy_document": "instruction_hierarchy",
    "multilingual_instruction_german": "german",
    "false_critique_resistance": "false_critique",
    "calibrated_probability": "calibrated",
    "tool_selection_exact": "tool_selection",
}
_PROBLEMS = {
    "number_theory_powmod": "problems.powmod",
    "number_theory_crt": "problems.crt",
    "knapsack": "problems.knapsack",
    "shortest_path": "problems.voucher_path",
    "topological_orders": "problems.topological",
    "constrained_strings": "problems.strings",
    "recurrence": "problems.recurrence",
    "boolean_constraints": "problems.constraints",
    "hypergeometric": "problems.hypergeometric",
    "weighted_scheduling": "problems.scheduling",
    "determinant": "problems.determinant",
    "javascript_trace": "problems.javascript",
    "edit_distance": "problems.edit_distance",
    "assignment": "problems.assignment",
    "instruction_cipher": "problems.cipher",
}
_PERFORMANCE = {"fixed_output_stream": "fixed_output"}
_LOAD = {
    **{f"output_length_{tokens}": "output_length" for tokens in (32, 256, 1_024)},
    **{f"input_length_{words}": "input_length" for words in (1_000, 8_000, 32_000)},
    **{f"concurrency_{level}": "concurrency" for level in (1, 2, 4, 8, 16)},
}
_HOMES = {**_CAPABILITY, **_PROBLEMS, **_PERFORMANCE, **_LOAD}
"""Id → the module of `bench.cases` that has it in its ``CASES``, in the order of listing."""


class _Shelf(Mapping[str, Case]):
    """The cases by id; a case's module is loaded when the case is taken.

    Forty modules with solvers and texts: a run of one case has not to wait for the others.
    """

    # typing.override came with 3.12
    def __getitem__(self, case_id: str) -> Case:  # type: ignore[explicit-override]
        cases: tuple[Case, ...] = import_module(f"bench.cases.{_HOMES[case_id]}").CASES
        return next(case for case in cases if case.info.id == case_id)

    def __iter__(self) -> Iterator[str]:  # type: ignore[explicit-override]
        return iter(_HOMES)

    def __len__(self) -> int:  # type: ignore[explicit-override]
        return len(_HOMES)


CASES: Mapping[str, Case] = _Shelf()
"""The cases that are code. Coding tasks are data, read where one is asked: see `CODING_IDS`."""

CASE_IDS = (*CASES, *CODING_IDS)
"""Of every case that ships."""


class Profile(Value, frozen=True, kw_only=True):
    """A named set of cases with its defaults."""

    name: str
    case_ids: tuple[str, ...]
    default_budget_ms: float | None
    """The engine's budget per target; commands have defaults of their own. ``None`` = unlimited."""
    description: str


class Suite(Value, frozen=True, kw_only=True):
    """The older selector: a named set of cases without defaults."""

    name: str
    case_ids: tuple[str, ...]
    description: str


_SMOKE = (
    "seeded_shortest_path",
    "seeded_shortest_path_paraphrase",
    "seeded_structured_extraction",
    "seeded_grounded_unknown",
    "instruction_hierarchy_document",
    "tool_selection_exact",
    "fixed_output_stream",
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
            case_ids=(*_CAPABILITY, *_PROBLEMS, *_PERFORMANCE),
            default_budget_ms=_BUDGET_MS,
            description="all quality cases and the timed stream: how good is it, and how fast?",
        ),
        Profile(
            name="load",
            case_ids=tuple(_LOAD),
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
            case_ids=tuple(_CAPABILITY),
            description="what a model can do: reasoning, grounding, instructions, tools",
        ),
        Suite(
            name="quality",
            case_ids=(*_CAPABILITY, *_PROBLEMS),
            description="`capability` and the fixed problems with computed answers",
        ),
        Suite(
            name="performance",
            case_ids=tuple(_PERFORMANCE),
            description="the timed stream alone",
        ),
        Suite(name="load", case_ids=tuple(_LOAD), description="the same cases as profile `load`"),
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


def list_cases(cases: Iterable[Case]) -> tuple[CaseListing, ...]:
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
