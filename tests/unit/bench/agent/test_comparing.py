import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.agent.comparing import (
    SHOWN,
    Raised,
    Returned,
    Unplain,
    Unreadable,
    fault_in,
    quote,
    read_answers,
    same,
)
from bench.agent.task import Equals, Judged, Raises

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(PLAIN)
def test_a_value_is_the_same_as_itself(value):
    assert same(value, json.loads(json.dumps(value)))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, True),
        (1, 1.0),
        (0, False),
        ("1", 1),
        (None, False),
        ([1], [1.0]),
        ([1], [1, 1]),
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"b": 1}),
        ({}, []),
    ],
)
def test_values_of_two_types_are_never_the_same(left, right):
    assert not same(left, right)
    assert not same(right, left)


@pytest.mark.parametrize(
    ("observed", "expected", "fault"),
    [
        (Returned(value=3), Equals(value=3), None),
        (Returned(value=3.0), Equals(value=3), "returned 3.0, not 3"),
        (Unplain(kind="set"), Equals(value=[]), "returned 'set', which is no plain data"),
        (Raised(names=("KeyError",), message="x"), Equals(value=1), "raised 'KeyError': 'x'"),
        (Raised(names=(), message=""), Equals(value=1), "raised '': ''"),
        (Raised(names=("Own", "ValueError"), message=""), Raises(name="ValueError"), None),
        (
            Raised(names=("KeyError",), message=""),
            Raises(name="ValueError"),
            "raised 'KeyError': '', where ValueError was to be raised",
        ),
        (
            Returned(value=None),
            Raises(name="ValueError"),
            "returned None, where ValueError was to be raised",
        ),
        (Returned(value=2), Judged(rule="", judge=lambda value: f"no {value}"), "no 2"),
        (Unplain(kind="nan"), Judged(rule="", judge=str), "returned 'nan', which is no plain data"),
    ],
)
def test_a_fault_says_what_came_and_what_was_expected(observed, expected, fault):
    assert fault_in(observed, expected) == fault


def test_what_candidate_code_returned_is_quoted_short_and_harmless():
    shown = quote("\x1b[2J<script>\u202e" + "x" * 9_000)
    assert shown[:-1].isascii()
    assert "\x1b" not in shown
    assert (len(shown), shown[-1]) == (SHOWN + 1, "…")


def _line(**answer):
    return json.dumps(answer).encode() + b"\n"


def test_answers_are_read_in_the_order_asked():
    output = _line(id="a", value=1) + _line(id="b", raised=["E", "Exception"], message="m")
    output += _line(id="c", unplain="set") + b'{"id": "d", "val'
    assert read_answers(output, ["a", "b", "c", "d"]) == (
        Returned(value=1),
        Raised(names=("E", "Exception"), message="m"),
        Unplain(kind="set"),
    )


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(b"hello\n", id="no-json"),
        pytest.param(b"\xff\xfe\n", id="no-text"),
        pytest.param(b"[" * 100_000 + b"\n", id="too-deep-to-parse"),
        pytest.param(_line(id="a", value=json.loads("[" * 80 + "]" * 80)), id="too-deep-to-walk"),
        pytest.param(b'{"id": "a", "value": NaN}\n', id="not-a-number"),
        pytest.param(b'{"id": "a", "value": 1e999}\n', id="infinite"),
        pytest.param(b'{"id": "a", "value": ' + b"9" * 5_000 + b"}\n", id="endless-number"),
        pytest.param(_line(id="b", value=1), id="not-its-turn"),
        pytest.param(_line(id="a", value=1) * 2, id="twice"),
        pytest.param(_line(id="a", value=1) + _line(id="b", value=1) * 2, id="one-too-many"),
        pytest.param(_line(id="a", value=1, passed=True), id="more-than-an-answer"),
        pytest.param(_line(id="a", passed=True), id="a-verdict"),
        pytest.param(_line(value=1), id="of-nothing"),
        pytest.param(b'"a"\n', id="a-text"),
    ],
)
def test_anything_else_between_the_answers_makes_them_unreadable(output):
    with pytest.raises(Unreadable):
        read_answers(output, ["a", "b"])


@given(st.binary())
def test_no_output_breaks_the_reader(output):
    with suppress(Unreadable):
        assert len(read_answers(output, ["a"])) <= 1
