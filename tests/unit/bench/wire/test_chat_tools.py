from collections.abc import Callable
from typing import Any

import pytest

from bench.model.trial import ToolCall
from bench.wire.tool_calls import ToolCallAssembly
from tests.chat_bytes import decode, delta, piece, sse


def _pieces(*pieces: dict[str, Any]) -> tuple[ToolCall, ...]:
    return decode(sse(*(delta(tool_calls=[piece]) for piece in pieces))).tool_calls


_TWO = (ToolCall(id="a", name="f", arguments="{}"), ToolCall(id="b", name="g", arguments="[]"))


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [piece("f", "{", index=0, id="a"), piece("g", "[]", index=1, id="b"),
             piece(None, "}", index=0)],
            id="interleaved by index",
        ),
        pytest.param(
            [piece("g", "[]", index=1, id="b"), piece("f", "{}", index=0, id="a")],
            id="out of order",
        ),
        pytest.param(
            [piece("f", "{", id="a"), piece(None, "}"), piece("g", "[]", id="b")],
            id="no index",
        ),
        pytest.param(
            [piece("f", "{", id="a"), piece("f", "}", id="a"), piece("g", "[]", id="b")],
            id="no index, id and name every time",
        ),
        pytest.param(
            [piece("f", "{", index=0, id="a"), piece("f", "}", index=0, id="a"),
             piece("g", "[]", index=1, id="b")],
            id="id and name every time",
        ),
        pytest.param(
            [piece("f", "{}", index=0, id="a"), piece("g", "[", index=0, id="b"),
             piece(None, "]", index=0)],
            id="index 0 for every call",
        ),
        pytest.param(
            [piece("f", "{", index=0, id="a"), piece(None, "}", index=0, id="x"),
             piece("g", "[]", index=1, id="b")],
            id="another id in every piece",
        ),
        pytest.param(
            [piece("f", {}, index=0, id="a"), piece("g", [], index=1, id="b")],
            id="arguments that are no string",
        ),
    ],
)  # fmt: skip
def test_two_calls_are_told_apart(pieces: list[dict[str, Any]]) -> None:
    assert _pieces(*pieces) == _TWO


def test_name_and_arguments_arrive_in_pieces() -> None:
    assert _pieces(
        piece("get_", index=0, id="a"),
        piece("weather", index=0),
        piece(None, '{"x"', index=0),
        piece("", ":1}", index=0),
    ) == (ToolCall(id="a", name="get_weather", arguments='{"x":1}'),)


def test_calls_without_index_and_id_are_told_apart_by_their_names() -> None:
    assert [call.name for call in _pieces(piece("f", "{}"), piece("g", "[]"))] == ["f", "g"]


def test_an_empty_piece_is_no_delta() -> None:
    seen = decode(sse(delta(tool_calls=[{"index": 0, "function": {}}, {"index": 0}])))
    assert seen.tool_calls == ()
    assert not seen.deltas


def test_two_calls_in_one_event_are_one_delta() -> None:
    seen = decode(sse(delta(tool_calls=[piece("f", "{}", index=0), piece("g", "[]", index=1)])))
    assert [(row[1], row[2]) for row in seen.deltas.rows()] == [(6, "tool")]


def test_a_function_that_is_no_object_is_nothing() -> None:
    assert decode(sse(delta(tool_calls=[{"index": 0, "function": 7}, 5]))).tool_calls == ()


@pytest.mark.parametrize("of", [lambda n: n, lambda _: 0, lambda _: None], ids=["own", "0", "none"])
def test_a_flood_of_calls_is_told_apart(of: Callable[[int], int | None]) -> None:
    calls = ToolCallAssembly()
    for number in range(20_000):  # a walk over all calls for each piece would take minutes
        calls.add(index=of(number), id_=f"c{number}", name="f", arguments="{")
        calls.add(index=of(number), id_=f"c{number}", name="f", arguments="}")
    expected = [ToolCall(id=f"c{number}", name="f", arguments="{}") for number in range(20_000)]
    assert list(calls.calls()) == expected
