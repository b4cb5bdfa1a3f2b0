import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.catalogue.lists import parse_models
from bench.stream.deltas import Read
from bench.wire import PROTOCOLS
from bench.wire.faults import message_of
from bench.wire.nesting import MOST_LEVELS, is_too_deep

_DEEP = b"[" * 100_000 + b"]" * 100_000
_APIS = tuple(PROTOCOLS)


def _nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize("api", _APIS)
@pytest.mark.parametrize(
    "event",
    [
        b'{"id": "x", "x": %s, "choices": [{"delta": {"content": "hi"}}]}',
        b'{"choices": [{"delta": {"content": %s}}]}',
        b'{"choices": [], "usage": {"prompt_tokens": 1, "x": %s}}',
        b'{"error": %s}',
        b'{"type": "message_start", "message": {"x": %s}}',
        b'{"type": "content_block_delta", "delta": {"text": %s}}',
        b'{"type": "response.completed", "response": {"x": %s}}',
        b"%s",
    ],
)
def test_an_event_of_a_hundred_thousand_levels_is_a_fault_of_the_answer(
    api: str, event: bytes
) -> None:
    for name in (b"", b"event: error\n"):
        decoder = PROTOCOLS[api].decoder(stream=True)
        decoder.feed(Read(1, 0, name + b"data: " + event % _DEEP + b"\n\ndata: [DONE]\n\n"))
        fault = decoder.finish().fault
        assert fault is not None
        assert len(fault.message) < 500


@pytest.mark.parametrize("api", _APIS)
def test_a_whole_answer_of_a_hundred_thousand_levels_is_a_fault_of_the_answer(api: str) -> None:
    decoder = PROTOCOLS[api].decoder(stream=False)
    decoder.feed(Read(1, 0, b'{"choices": [], "content": [], "output": [], "x": ' + _DEEP + b"}"))
    fault = decoder.finish().fault
    assert fault is not None
    assert fault.code == "invalid_stream_json"


def test_an_error_page_and_a_list_of_models_of_a_hundred_thousand_levels_are_read_as_text() -> None:
    assert message_of(b'{"error": ' + _DEEP + b"}").startswith('{"error": [[')
    assert parse_models(b'{"data": ' + _DEEP + b"}") == ()


def test_brackets_in_texts_and_side_by_side_are_no_levels() -> None:
    assert not is_too_deep(json.dumps(["[" * 500, '\\"[{' * 500, "\\"]).encode())
    assert not is_too_deep(json.dumps([[{}]] * 500).encode())


def test_a_hundred_levels_are_read_and_one_more_is_not() -> None:
    assert not is_too_deep(_nested(MOST_LEVELS))
    assert is_too_deep(_nested(MOST_LEVELS + 1))


_TEXTS = st.text(alphabet='[]{}"\\a,', max_size=12)
_TREES = st.recursive(
    _TEXTS | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
)


def _depth(tree: object) -> int:
    if isinstance(tree, dict):
        return 1 + max(map(_depth, tree.values()), default=0)
    return 1 + max(map(_depth, tree), default=0) if isinstance(tree, list) else 0


@given(_TREES, st.integers(MOST_LEVELS - 6, MOST_LEVELS), st.integers(1, 40))
def test_the_depth_is_that_of_the_tree_whatever_its_texts_hold(
    tree: object, more: int, times: int
) -> None:
    for _ in range(more):
        tree = [tree]
    assert is_too_deep(json.dumps([tree] * times).encode()) == (_depth(tree) + 1 > MOST_LEVELS)


@pytest.mark.parametrize("around", [0, 1, 2, 3])
def test_a_text_that_is_longer_than_a_block_stays_a_text(around: int) -> None:
    text = b'"' + b"[" * ((1 << 20) - around) + b'"'
    assert not is_too_deep(b"[" + text + b",[" * 90 + text + b"]" * 91)
    assert is_too_deep(b"[" + text + b",[" * 100 + text + b"]" * 101)


@given(st.binary())
def test_whatever_stands_there_has_a_depth(data: bytes) -> None:
    is_too_deep(data * 60)


@pytest.mark.parametrize("text", [b'"' + b'\\"' * 300_000 + b"\\", b'"' * 300_001, b"]" * 300_000])
def test_no_text_takes_for_ever(text: bytes) -> None:
    assert not is_too_deep(b"[]" * 101 + text)
