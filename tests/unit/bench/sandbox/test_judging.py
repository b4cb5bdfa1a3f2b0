"""From facts to an end."""

from typing import Any

import pytest

from bench.sandbox.judging import outcome
from bench.sandbox.program import Limits

FACTS: dict[str, Any] = {
    "status": 0, "cpu_ns": 1, "duration_ns": 5, "whole_ns": 9, "full": False, "killed": None,
    "out": b"o", "err": b"", "cut": False, "files": {}, "memory_kills": 0, "refused_processes": 0,
}  # fmt: skip
NAMES = {9: "SIGKILL", 11: "SIGSEGV", 24: "SIGXCPU", 25: "SIGXFSZ", 6: "SIGABRT"}


@pytest.mark.parametrize(
    ("changes", "end", "code", "signal"),
    [
        ({}, "exited", 0, None),
        ({"status": 7 << 8}, "exited", 7, None),
        ({"status": 11}, "signalled", None, "SIGSEGV"),
        ({"status": 64}, "signalled", None, "signal 64"),
        ({"status": 24}, "cpu_limit", None, "SIGXCPU"),
        ({"status": 9, "cpu_ns": 10**11}, "cpu_limit", None, "SIGKILL"),
        ({"status": 9}, "signalled", None, "SIGKILL"),
        ({"status": 25}, "file_limit", None, "SIGXFSZ"),
        ({"status": 1 << 8, "full": True}, "file_limit", 1, None),
        ({"status": None, "killed": "wall"}, "wall_limit", None, None),
        ({"status": None, "killed": "output", "cut": True}, "output_limit", None, None),
        ({"cut": True}, "output_limit", 0, None),
        ({"status": None, "killed": "files"}, "file_limit", None, None),
        ({"status": None, "killed": "lost"}, "signalled", None, None),
        ({"status": None, "killed": "wall", "memory_kills": 1}, "memory_limit", None, None),
        ({"status": 0, "refused_processes": 3}, "process_limit", 0, None),
        ({"status": 1 << 8, "err": b"Traceback\nMemoryError\n"}, "memory_limit", 1, None),
        ({"status": 0, "err": b"Traceback\nMemoryError\n"}, "exited", 0, None),
    ],
)
def test_the_most_telling_end_is_told(changes, end, code, signal):
    found = outcome(FACTS | changes, "python", Limits(), NAMES)
    assert (found.end, found.exit_code, found.signal) == (end, code, signal)
    assert (found.duration_ns, found.setup_ns) == (5, 4)


def test_node_tells_that_its_heap_was_used_up():
    facts = FACTS | {"status": 6, "err": b"FATAL ERROR: JavaScript heap out of memory"}
    assert outcome(facts, "javascript", Limits(), NAMES).end == "memory_limit"
    assert outcome(facts, "python", Limits(), NAMES).end == "signalled"


def test_a_refusal_says_why_and_has_no_times():
    found = outcome({"refused": "unshare: no", "whole_ns": 3}, "python", Limits(), NAMES)
    assert (found.end, found.stderr, found.duration_ns) == ("refused", b"unshare: no", 0)
