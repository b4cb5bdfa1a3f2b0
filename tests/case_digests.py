"""Digests over many instances of the seeded cases: a changed one means that results do not compare.

Uses nothing but ``bench.cases``, so that it also runs where little else does: as a program it
prints the digests as JSON, for another machine or another Python.
"""

import hashlib
import json
from collections.abc import Iterator

from bench.cases import CASES
from bench.cases.text_hash import _canonical

SEEDS = 1_000


def seeded_ids() -> Iterator[str]:
    """Yield the ids of the judged cases whose instances differ by seed."""
    for case_id, case in CASES.items():
        if case.info.kind == "quality" and case.build(1).request != case.build(2).request:
            yield case_id


def digest(case_id: str) -> str:
    """Return the SHA-256 over everything asked and expected at the seeds of a case, from 0."""
    case, found = CASES[case_id], hashlib.sha256()
    for seed in range(SEEDS):
        found.update(_canonical(case.build(seed)))
    return found.hexdigest()


def as_text() -> str:
    """Return all digests as the text of the golden file."""
    return json.dumps({case_id: digest(case_id) for case_id in seeded_ids()}, indent=1) + "\n"


if __name__ == "__main__":
    print(as_text(), end="")  # noqa: T201 -- a program's output
