"""The answer book of a run whose upstream is the simulator."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.answer_book import write_answer_book
from bench.app.request import Session
from bench.model.case import Case
from bench.model.header import Header
from bench.plan import first_staged


def write_book(session: Session, header: Header, cases: Mapping[str, Case]) -> None:
    """Write down what is right on every prompt of the plan, where the job asks for it.

    Raises:
        BenchError: The file can't be written.
    """
    link = session.link
    if link is None or link.hello.answer_book is None:
        return
    infos = {case.id: case for case in header.cases}
    trials = [
        trial
        for block in header.plan
        for trial in (
            *block.trials,
            *first_staged(block, infos[block.case_id], seed=header.config.seed),
        )
    ]
    coding = _coding_entries(session, header, cases)
    write_answer_book(Path(link.hello.answer_book), trials, cases, more=coding)


def _coding_entries(
    session: Session, header: Header, cases: Mapping[str, Case]
) -> list[dict[str, Any]]:
    """Return what scripted agents are told of the run's coding tasks."""
    bench = session.workbench
    if bench is None:
        return []
    from bench.agent.book import book_entry  # most runs need nothing of it

    ids = [case.id for case in header.cases if case.kind == "agentic"]
    return [
        book_entry(bench.task(case_id), cases[case_id].build(1).request.messages) for case_id in ids
    ]
