"""Events that are taken together say the same as one by one, whatever stands among them."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.stream.deltas import Read
from bench.stream.sse import SseParser
from bench.wire import PROTOCOLS
from bench.wire.protocol import Decoded

TEXTS = st.one_of(st.none(), st.just(""), st.text(max_size=8))


def chunk(**fields: Any) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\n\n"


def piece(text, **more):
    return {"index": 0, "delta": {"content": text, **more}, "finish_reason": None}


PLAIN = st.builds(
    lambda text, model, print_: chunk(
        model=model, system_fingerprint=print_, choices=[piece(text)], created=1
    ),
    TEXTS,
    TEXTS,
    TEXTS,
)
OTHER = st.sampled_from(
    [
        chunk(choices=[{"index": 0, "delta": {"role": "assistant", "content": ""}}]),
        chunk(choices=[{"index": 1, "delta": {"content": "second"}}]),
        chunk(choices=[piece("a", reasoning_content="think")]),
        chunk(choices=[piece(None, reasoning="think")]),
        chunk(choices=[piece("a", provider_metadata={"a": 1})]),
        chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}]),
        chunk(choices=[], usage={"prompt_tokens": 1, "completion_tokens": 2}),
        chunk(choices=[piece("a")], usage={"prompt_tokens": 1, "completion_tokens": 2}),
        chunk(choices=[{"index": 0, "delta": {"content": [{"text": "parts"}]}}]),
        chunk(error={"message": "no"}),
        chunk(choices=[]),
        b"data: not json\n\n",
        b"data: 17\n\n",
        b"data: \n\n",
        b"data: [DONE]\n\n",
        b": ping\n\n",
        b'event: error\ndata: {"message": "down"}\n\n',
        b'data: {"choices":\ndata: []}\n\n',
        b"data:" + chunk(choices=[piece("tight")])[6:],
        b'data: {"choices": []}\r\n\r\n',
    ]
)
TOOL = chunk(
    choices=[
        {
            "index": 0,
            "delta": {
                "tool_calls": [
                    {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
                ]
            },
        }
    ]
)
EVENTS = st.lists(st.one_of(PLAIN, PLAIN, PLAIN, OTHER, st.just(TOOL)), max_size=12)


def decoded(reads: list[bytes]) -> Decoded:
    decoder = PROTOCOLS["chat"].decoder(stream=True)
    for number, read in enumerate(reads):
        decoder.feed(Read(1_000 + number, number, read))
    return decoder.finish()


def stamped(answer: Decoded) -> dict[str, Any]:
    deltas = answer.deltas
    return said(answer) | {"at_ns": list(deltas.at_ns), "reads": list(deltas.reads)}


def said(answer: Decoded) -> dict[str, Any]:
    fields = {name: getattr(answer, name) for name in Decoded.__annotations__}
    deltas = fields.pop("deltas")
    return fields | {"kinds": bytes(deltas.kinds), "sizes": list(deltas.characters)}


@given(EVENTS)
def test_one_read_says_the_same_as_a_read_for_each_event(events):
    first = chunk(model="m", choices=[piece("first")])
    events = [first, *events]
    together, apart = said(decoded([b"".join(events)])), said(decoded(events))
    # Cut in the middle of a line nothing can be taken together: the usual way, event by event.
    body = b"".join(events)
    cut = said(decoded([body[:9], *(body[place : place + 7] for place in range(9, len(body), 7))]))
    for each in (together, apart, cut):
        each.pop("first_event_ns")
    assert together == apart == cut


@given(EVENTS, st.lists(st.integers(0, 900), max_size=12), st.booleans())
def test_reads_taken_together_say_the_same_as_one_after_another(events, cuts, is_by_event):
    """Stamps included, however the network cut them."""
    events = [chunk(model="m", choices=[piece("first")]), *events]
    body = b"".join(events)
    ends = list(itertools.accumulate(map(len, events)))
    places = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    borders = [0, *ends] if is_by_event else places
    reads = [
        Read(1_000 + number, number, body[begin:end])
        for number, (begin, end) in enumerate(itertools.pairwise(borders))
    ]
    together, apart = (PROTOCOLS["chat"].decoder(stream=True) for _ in range(2))
    together.feed_all(reads)
    for read in reads:
        apart.feed(read)
    assert together.done_ns == apart.done_ns
    assert stamped(together.finish()) == stamped(apart.finish())


@given(EVENTS)
def test_all_that_came_in_one_read_has_its_stamp(events):
    answer = decoded([chunk(choices=[piece("first")]), b"".join(events)])
    assert set(answer.deltas.at_ns[1:]) <= {1_001}
    assert set(answer.deltas.reads[1:]) <= {1}


@pytest.mark.parametrize(
    ("data", "events"),
    [
        pytest.param(b"data: a\n\n", [b"a"], id="one"),
        pytest.param(b"data: a\n\ndata: b\n\n", [b"a", b"b"], id="two"),
        pytest.param(b"data: \n\ndata: b\n\n", [b"", b"b"], id="empty"),
        pytest.param(b"data: a\n\n: c\n\n", None, id="comment"),
        pytest.param(b"data: a\n\n\n\n", None, id="empty line"),
        pytest.param(b"data: a\ndata: b\n\n", None, id="two lines"),
        pytest.param(b"data: a\n\nevent: x\ndata: b\n\n", None, id="named"),
        pytest.param(b"data: a\n\ndata:b\n\n", None, id="no space"),
        pytest.param(b"data: a\r\n\r\n", None, id="CRLF"),
        pytest.param(b"data: a\n\ndata: b\n", None, id="cut"),
    ],
)
def test_only_whole_unnamed_events_are_plain(data, events):
    assert SseParser().plain(data, line_ends=data.count(b"\n")) == events


def test_nothing_is_plain_while_an_event_is_under_way():
    parser = SseParser()
    parser.feed(b"event: x\n")
    assert parser.plain(b"data: a\n\n", line_ends=2) is None
    assert [event.name for event in parser.feed(b"data: a\n\n")] == [b"x"]
