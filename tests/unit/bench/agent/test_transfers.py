"""The replay of interleaved transfers: one log for each rule that can be broken."""

from typing import Any

import pytest

from bench.agent.oracles.transfers import _judge

RUN: dict[str, Any] = {
    "accounts": {"ann": 100, "bob": 5, "cem": 0},
    "transfers": [["ann", "bob", 30], ["bob", "ann", 1]],
    "schedule": [0] * 20,
    "patience": 40,
}
LOCKED = [[0, "lock", "ann", False], [0, "lock", "bob", False], [0, "read", "ann", 100]]
MOVED = [
    *LOCKED,
    [0, "write", "ann", 70, None],
    [0, "read", "bob", 5],
    [0, "write", "bob", 35, None],
    [0, "unlock", "ann", None],
    [0, "unlock", "bob", None],
    [0, "end", True],
]
SECOND = [
    [1, "lock", "ann", False],
    [1, "lock", "bob", False],
    [1, "read", "bob", 35],
    [1, "write", "bob", 34, None],
    [1, "read", "ann", 70],
    [1, "write", "ann", 71, None],
    [1, "unlock", "ann", None],
    [1, "unlock", "bob", None],
    [1, "end", True],
]


def test_a_log_that_keeps_every_rule_is_right():
    assert _judge(RUN)([*MOVED, *SECOND]) is None


@pytest.mark.parametrize(
    ("log", "fault"),
    [
        pytest.param("log", "returned 'log', no log", id="no-log"),
        pytest.param([], "transfers [0, 1] did not end", id="nothing-done"),
        pytest.param([*MOVED], "transfers [1] did not end", id="one-missing"),
        pytest.param(
            [[1, "lock", "ann", False]], "[1, 'lock', 'ann', False] was nobody's turn", id="turn"
        ),
        pytest.param(
            [[0, "read", "ann", 100]], "may not do ['read', 'ann', 100] now", id="unlocked"
        ),
        pytest.param(
            [[0, "lock", "cem", False]], "locks 'cem', which is not its own", id="foreign"
        ),
        pytest.param(
            [[0, "lock", "ann", True]], "the lock of 'ann' is told to be what it is not", id="lie"
        ),
        pytest.param(
            [*MOVED[:8], [0, "lock", "ann", False]],
            "takes a lock after giving one back",
            id="phases",
        ),
        pytest.param(
            [*LOCKED[:2], [0, "read", "ann", 99]], "may not do ['read', 'ann', 99]", id="read"
        ),
        pytest.param(
            [*LOCKED, [0, "write", "ann", -1, None]],
            "may not do ['write', 'ann', -1, None]",
            id="red",
        ),
        pytest.param(
            [*LOCKED, [0, "write", "ann", True, None]],
            "may not do ['write', 'ann', True, None]",
            id="no-amount",
        ),
        pytest.param([*LOCKED, [0, "end", True]], "ended with the lock of ann", id="keeps-locks"),
        pytest.param([[0, "end", True]], "ended without a look at its source", id="guess"),
        pytest.param(
            [*LOCKED, *MOVED[6:8], [0, "end", False]], "returned False with 100 there", id="refusal"
        ),
        pytest.param([*MOVED[:5], *MOVED[6:], *SECOND], "transfer 1: may not do", id="lost-money"),
    ],
)
def test_a_broken_rule_is_named(log, fault):
    found = _judge(RUN)(log)
    assert found is not None
    assert fault in found


def test_money_that_vanishes_is_seen_at_the_end():
    alone = {**RUN, "transfers": RUN["transfers"][:1]}
    log = [*MOVED[:5], *MOVED[6:]]
    found = _judge(alone)(log)
    assert found == (
        "balances are {'ann': 70, 'bob': 5, 'cem': 0}, not {'ann': 70, 'bob': 35, 'cem': 0}"
    )


@pytest.mark.parametrize(
    ("log", "fault"),
    [
        ([[0, "end", False]], None),
        ([[0, "end", True]], "took up an amount below 1"),
        ([[0, "lock", "ann", False]], "took up an amount below 1"),
    ],
)
def test_an_amount_below_1_is_refused_untouched(log, fault):
    run = {**RUN, "transfers": [["ann", "bob", 0]]}
    found = _judge(run)(log)
    assert found == fault or (found is not None and fault is not None and fault in found)
