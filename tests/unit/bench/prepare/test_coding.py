"""Agentic cases whose language does not run here are left out before anything is asked."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bench.agent.loading import load_tasks
from bench.agent.workbench import SandboxBench
from bench.catalogue import ListedModel, Listing, Offer
from bench.config import Place, load_config
from bench.errors import UsageFault
from bench.model.target import TargetMetadata
from bench.prepare.coding import not_runnable, refuse_not_runnable, without_not_runnable
from bench.prepare.selection import Selection, select
from bench.sandbox.program import Protections
from tests.plain_sandbox import PlainSandbox

SCRIPT, PYTHON = "agentic_bugfix_small_javascript", "agentic_bugfix_small"
NO_WALLS = Protections(level="none", walls=None, items=(), why="a test")
LISTING = Listing(
    models=(
        ListedModel(
            id="m", display_name="M", offers=(Offer(mapping="a", metadata=TargetMetadata()),)
        ),
    ),
    headers={},
)


def selected(folder: Path, *cases: str) -> Selection:
    flags: dict[str, Any] = {"url": "http://127.0.0.1:1", "case": ",".join(cases)}
    config = load_config(flags, Place(folder=folder, environ={}))
    return select(config, LISTING, models=("m",), today=date(2026, 11, 30))


def bench() -> SandboxBench:
    """A workbench in which no program runs, so no language does but the one that was probed."""
    return SandboxBench(tasks=load_tasks(), sandbox=PlainSandbox(), protections=NO_WALLS)


def test_what_does_not_run_is_left_out_and_told(tmp_path):
    found = without_not_runnable(selected(tmp_path, PYTHON, SCRIPT), bench())
    assert [case.info.id for case in found.cases] == [PYTHON]
    assert list(found.not_run) == [SCRIPT]
    assert found.notes[-1].startswith(f"not run: {SCRIPT} (")


def test_where_nothing_else_was_asked_for_there_is_no_run(tmp_path):
    with pytest.raises(UsageFault, match=SCRIPT) as caught:
        without_not_runnable(selected(tmp_path, SCRIPT), bench())
    assert "`node`" in str(caught.value.hint)


def test_what_was_begun_is_not_gone_on_with(tmp_path):
    with pytest.raises(UsageFault, match="can't be run here"):
        refuse_not_runnable([PYTHON, SCRIPT], bench())
    refuse_not_runnable([PYTHON, "seeded_shortest_path"], bench())


def test_without_agentic_cases_nothing_is_tried(tmp_path):
    selection = selected(tmp_path, "seeded_shortest_path")
    assert without_not_runnable(selection, None) is selection
    assert not not_runnable([SCRIPT], None)
