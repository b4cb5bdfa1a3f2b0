"""Every case by id, coding tasks included: they are read from the package's data when one is asked."""

from collections.abc import Iterable, Mapping
from functools import cache

from bench.cases import CASE_IDS, CASES
from bench.model.case import Case


def cases_for(ids: Iterable[str]) -> Mapping[str, Case]:
    """Return a table that has every case of ``ids`` that there is.

    Reading the tasks takes some 50 ms, which a run without any of them should not wait for. An
    unknown id reads them too: it may be meant for one.
    """
    return CASES if CASES.keys() >= set(ids) else all_cases()


def shipped_of(ids: Iterable[str]) -> dict[str, Case]:
    """Return those of ``ids`` that ship; nothing is loaded of the others."""
    wanted = tuple(ids)
    table = cases_for(case_id for case_id in wanted if case_id in CASE_IDS)
    return {case_id: table[case_id] for case_id in wanted if case_id in table}


@cache
def all_cases() -> Mapping[str, Case]:
    """Return every case that ships."""
    from bench.agent.coding_cases import coding_cases  # with the solvers behind the tasks
    from bench.agent.loading import load_tasks

    return {**CASES, **coding_cases(load_tasks().values())}
