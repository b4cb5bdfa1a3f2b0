"""The table of gateways, and what of it fits into the object for programs."""

import pytest

from orchestrator.holding import Holding
from orchestrator.stray_lines import (
    bounded,
    counts_text,
    memory_text,
    stray_facts,
    table,
)
from orchestrator.strays import Stray
from orchestrator.verdicts import Verdict, age_text
from tests.fakes_orchestrator import identity, process

HOME = "/home/ada"
HELD = Stray(
    verdict=Verdict.HELD,
    reason="in use",
    identity=identity(4242),
    name="20260102-101112-abcdef",
    run_id="20260102-101112-abcdef",
    worktree="/home/ada/work/shop-gateway-with-a-long-name/wt2",
    branch="feature/streaming-of-tool-calls",
    ports=(23456,),
    age_s=754.2,
    idle_s=3.0,
    memory_bytes=84 * 2**20,
    held_by=Holding(run_id="20260102-101112-abcdef", pid=77),
    processes=(process(1), process(2)),
)
IDLE = Stray(
    verdict=Verdict.IDLE,
    reason="nobody has used it for 3h 20m; its worktree was removed",
    identity=identity(5),
    name="default",
    worktree="/home/ada/wt",
    is_worktree_gone=True,
    branch="main",
    ports=(20001,),
    age_s=90_000.0,
    idle_s=12_000.0,
    memory_bytes=3 * 2**30,
)
SUSPECT = Stray(
    verdict=Verdict.SUSPECT,
    reason="runs `dist/serve.js`",
    identity=identity(32001, 998877),
    worktree="/srv/elsewhere",
    ports=(4001, 4002, 4003),
    age_s=20.0,
)
UNREADABLE = Stray(verdict=Verdict.UNVERIFIED, reason="the record `/state/x.json` is truncated")
ALL = (HELD, IDLE, SUSPECT, UNREADABLE)


def test_the_table_fits_100_columns_and_says_why_in_a_line_of_its_own():
    text = table(ALL, width=100, home=HOME)
    assert all(len(line) <= 100 for line in text.splitlines())
    assert text.splitlines() == [
        "  PID  VERDICT           PORT    AGE   MEMORY  BRANCH                 WORKTREE               HELD BY",
        " 4242  held             23456    12m   84 MiB  feature/streaming-of…  …with-a-long-name/wt2  PID 77",
        "  `20260102-101112-abcdef`: in use by run 20260102-101112-abcdef (PID 77)",
        "    5  idle             20001  1d 1h  3.0 GiB  main                   ~/wt (gone)            -",
        "  `default`: nobody has used it for 3h 20m; its worktree was removed",
        "32001  suspect     4001,4002…    20s        -  -                      /srv/elsewhere         -",
        "  runs `dist/serve.js`; `gateway-bench clean --pid 32001 --start 998877 --yes` would end it",
        "    -  unverified           -      -        -  -                      -                      -",
        "  the record `/state/x.json` is truncated",
    ]


@pytest.mark.parametrize("width", [1, 60, 80, 100, 300])
def test_no_width_breaks_the_table(width):
    lines = table(ALL, width=width, home=HOME).splitlines()
    assert len({line.count("PID") for line in lines[:1]}) == 1
    assert max(map(len, lines)) <= max(width, 90) or width >= 300


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0.4, "0s"),
        (59.9, "59s"),
        (60, "1m"),
        (3599, "59m"),
        (3600, "1h"),
        (12_000, "3h 20m"),
        (86_400, "1d"),
        (90_000, "1d 1h"),
    ],
)
def test_an_age_has_two_units_at_most(seconds, text):
    assert age_text(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"), [(None, "-"), (84 * 2**20, "84 MiB"), (1536 * 2**20, "1.5 GiB")]
)
def test_memory_is_told_in_binary_units(size, text):
    assert memory_text(size) == text


def test_verdicts_are_counted_in_the_order_of_the_list():
    assert counts_text([SUSPECT, IDLE, IDLE, HELD]) == "1 held, 2 idle, 1 suspect"
    assert counts_text([]) == ""


def test_what_is_not_known_is_left_out_of_the_object():
    assert stray_facts(UNREADABLE) == {"verdict": "unverified", "why": UNREADABLE.reason}
    facts = stray_facts(HELD)
    assert (facts["start"], facts["processes"], facts["ageS"]) == (1000, 2, 754)
    assert facts["heldBy"] == "run 20260102-101112-abcdef (PID 77)"


def test_rows_that_do_not_fit_are_counted():
    rows = [stray_facts(HELD)] * 50
    kept, left_off = bounded(rows)
    assert 0 < len(kept) < 50
    assert len(kept) + left_off == 50
    assert bounded(rows[:2]) == (rows[:2], 0)


@pytest.mark.parametrize(
    ("holding", "short", "text"),
    [
        (Holding(), "somebody", "another process"),
        (Holding(run_id="r1"), "r1", "run r1"),
        (Holding(run_id="r1", pid=7, others=2), "PID 7", "run r1 (PID 7) and 2 more"),
    ],
)
def test_a_holder_is_named_as_far_as_it_is_known(holding, short, text):
    assert (holding.short, holding.text) == (short, text)
