"""Our own column of `docs/comparison.md`: the same faults again, and the same words."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.supervisors.namespace import run_isolated, why_not
from benchmarks.supervisors.scenarios import SCENARIOS
from benchmarks.supervisors.tools import OURS
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[3] / "docs" / "comparison.md"
# The others wait for the whole limit of 5 s; the record run has them.
FAST = [name for name in SCENARIOS if name not in ("proxy", "never-ready", "ignores-signals")]


@pytest.fixture(scope="module", autouse=True)
def _a_machine_with_namespaces():
    reason = why_not()
    if reason is not None:
        pytest.skip(f"no PID namespace can be made here: {reason}")


def table(heading):
    """Return the first table below a heading: first cell of each row to the others by head."""
    lines = PAGE.read_text().split(f"## {heading}\n\n")[1].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    head, _, *body = rows
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in body}


def plain(words):
    """Leave out figures, which differ from run to run."""
    return re.sub(r"\d+(\.\d+)? (s|ms)\b", "N \\2", words)


def test_every_fault_has_a_row_and_every_row_a_fault():
    assert list(table("Faults")) == list(SCENARIOS)


@pytest.mark.parametrize("scenario", FAST)
def test_what_the_page_says_of_us_is_what_happens(scenario):
    done = run_isolated(
        ["benchmarks.supervisors.inside", OURS.name, scenario], timeout_s=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    verdict = "yes" if found["is_right"] else "NO"
    seen = plain(f"{verdict}: {found['words']}")
    assert seen == plain(table("Faults")[scenario][OURS.name]), found["said"]
