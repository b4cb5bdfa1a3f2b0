"""Reads that are kept and looked at later say the same as reads that are looked at one by one."""

import gc
import itertools
import zlib
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.client.exchange import LONGEST_KEPT_NS, Exchange
from bench.client.verdict import respond
from tests.chat_bytes import delta, sse
from tests.recorded_streams import recordings
from tests.replay import circumstances, exchange

S = 1_000_000_000
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def framed(data: bytes, size: bytes | None = None) -> bytes:
    return (b"%x" % len(data) if size is None else size) + b"\r\n" + data + b"\r\n"


def token(text: str = "a", finish: str | None = None) -> bytes:
    return sse(delta(finish, content=text), done=False)


DONE = b"data: [DONE]\n\n"
ANSWER = [framed(token(text)) for text in "abcdefgh"] + [framed(token("", "stop")), framed(DONE)]

HEADS = st.sampled_from(
    [
        CHUNKED,
        CHUNKED,
        HEAD + b"\r\n",
        HEAD + b"content-length: 400\r\n\r\n",
        CHUNKED.replace(b"200 OK", b"503 Busy"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED,
    ]
)
PIECES = st.sampled_from(
    [
        *[framed(token(text)) for text in ("x", "y", "ä", "")],
        framed(token("z"), b"%X" % len(token("z"))),
        framed(token("z"), b"00%x" % len(token("z"))),
        framed(token("z"), b"%x;a=b" % len(token("z"))),
        framed(token("z"), b"+%x" % len(token("z"))),
        framed(token("z"), b"%x" % (len(token("z")) - 1)),
        framed(token("z").replace(b"\n", b"\r\n")),
        framed(sse(delta(reasoning="why"), done=False)),
        framed(token("p") + token("q")),
        framed(token("cut")[:20]) + framed(token("cut")[20:]),
        framed(b"data: not json\n\n"),
        framed(b'data: {"error": {"message": "down"}}\n\n'),
        framed(b"event: ping\ndata: {}\n\n"),
        framed(b": alive\n\n"),
        framed(token("", "stop")),
        framed(DONE),
        END,
        b"0\r\nTrailer: x\r\n\r\n",
        b"0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"zz\r\n",
        b"x" * 5_000,
    ]
)
ENDINGS = st.sampled_from(["eof", "reset", "deadline", "silence"])


def played(reads: Iterable[bytes], ending: str, *, keeps: bool) -> tuple[Exchange, dict[str, Any]]:
    """Play reads a millisecond apart into a fresh exchange, as a line does, and end it."""
    state = exchange(deadline_ns=3_600 * S, idle_ns=60 * S)
    at_ns = 0
    for at_ns, data in enumerate(reads, start=1):
        if not (keeps and state.keep(at_ns * 1_000_000, data)):
            state.receive(at_ns * 1_000_000, data)
        if state.is_over:
            break
    end_ns = (at_ns + 1) * 1_000_000
    match ending:
        case "eof":
            state.eof(end_ns)
        case "reset":
            state.reset(end_ns, "cut")
        case "silence":
            state.expire(end_ns + 60 * S)
        case _:
            pass
    state.expire(3_600 * S)
    response = respond(state, circumstances())
    told = {name: getattr(response, name) for name in response.__struct_fields__}
    return state, told | {"reusable": state.http.is_reusable}


def cut(raw: bytes, places: Iterable[int]) -> list[bytes]:
    borders = sorted({0, len(raw), *(place for place in places if 0 < place < len(raw))})
    return [raw[begin:end] for begin, end in itertools.pairwise(borders)]


def assert_same(reads: list[bytes], ending: str) -> None:
    assert played(reads, ending, keeps=True)[1] == played(reads, ending, keeps=False)[1]


@given(HEADS, st.lists(PIECES, max_size=40), st.lists(st.integers(1, 4_000), max_size=6), ENDINGS)
@settings(max_examples=300)
def test_a_stream_is_read_the_same_whatever_it_holds(head, pieces, cuts, ending):
    raw = b"".join([head, *pieces])
    ends = itertools.accumulate(map(len, [head, *pieces]))
    assert_same(cut(raw, [*ends, *cuts]), ending)


@pytest.mark.parametrize("recording", recordings(), ids=lambda one: one.name)
@pytest.mark.parametrize("size", [1, 5, 61, 700])
def test_recorded_answers_are_read_the_same(recording, size):
    reads = cut(recording.raw[:60_000], range(0, 60_000, size))
    assert_same(reads, "eof")


@pytest.mark.parametrize("end", [END, b"0\r\nX: y\r\n\r\n"], ids=repr)
@pytest.mark.parametrize("place", range(6))
def test_an_end_is_seen_at_once_however_it_is_cut(end, place):
    raw = b"".join(ANSWER[5:]) + end
    state = exchange()
    reads = [CHUNKED, *ANSWER[:5], raw[: len(raw) - place], raw[len(raw) - place :]]
    for at_ns, data in enumerate(filter(None, reads), start=1):
        assert not state.is_over
        if not state.keep(at_ns, data):
            state.receive(at_ns, data)
    assert (state.ending.code, state.ended_ns) == (None, at_ns)


def test_a_size_that_is_cut_is_not_read_as_another():
    """The second read alone would be a chunk of five bytes; its size has begun in the first."""
    reads = [CHUNKED, ANSWER[0], ANSWER[1] + b"1", b"5\r\n: abc\r\n", b": 0123456789ab\r\n"]
    assert_same([*reads, *ANSWER[2:], END], "")
    assert played([*reads, *ANSWER[2:], END], "", keeps=True)[1]["error"] is None


def test_a_compressed_stream_is_read_the_same():
    packer = zlib.compressobj(wbits=31)
    texts = [packer.compress(token(text)) + packer.flush(zlib.Z_SYNC_FLUSH) for text in "abcdef"]
    last = packer.compress(token("", "stop") + DONE) + packer.flush()
    reads = [HEAD + b"content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"]
    reads += [framed(piece) for piece in [*texts, last]]
    assert_same([*reads, END], "")
    assert played([*reads, END], "", keeps=True)[1]["content"] == "abcdef"


def test_kept_reads_may_bring_no_body_at_all():
    assert_same([CHUNKED, b"10", b"000", b"0000"], "silence")
    assert_same([CHUNKED, b"00000", b"0000a;b=c", b";d=eeee"], "silence")


def test_bytes_behind_the_end_do_not_hide_it():
    state = exchange()
    for at_ns, data in enumerate([CHUNKED, *ANSWER, END + b"HTTP/1.1 200 OK"], start=1):
        if not state.keep(at_ns, data):
            state.receive(at_ns, data)
    assert state.is_over
    assert not state.http.is_reusable


@pytest.mark.parametrize("answer", [ANSWER, ANSWER[:-1]], ids=["end mark", "no end mark"])
def test_what_comes_behind_a_whole_answer_is_never_kept(answer):
    """Nobody would look at it, and the connection would be used again."""
    state = exchange()
    for at_ns, data in enumerate([CHUNKED, *answer, END], start=1):
        if not state.keep(at_ns, data):
            state.receive(at_ns, data)
    assert (state.is_over, state.http.is_reusable) == (True, True)
    assert not state.keep(90, b"asked for by nobody")
    state.receive(90, b"asked for by nobody")
    assert not state.http.is_reusable


def test_what_is_kept_is_looked_at_before_it_can_matter():
    state = exchange(deadline_ns=3_600 * S, idle_ns=60 * S)
    state.receive(1, CHUNKED)
    assert state.due_ns == 1 + LONGEST_KEPT_NS
    assert all(state.keep(at, framed(token())) for at in range(2, 34))
    assert not state.keep(34, framed(token()))
    assert state.reads == 1
    state.expire(1 + LONGEST_KEPT_NS)
    assert (state.reads, state.is_over) == (33, False)
    assert state.due_ns == 1 + 2 * LONGEST_KEPT_NS


def test_reads_of_many_tokens_are_kept_within_32_kilobytes():
    state = exchange(deadline_ns=3_600 * S, idle_ns=60 * S)
    state.receive(1, CHUNKED)
    many = framed(token()) * 100
    assert 8_192 < len(many) < 10_000
    assert [state.keep(at, many) for at in range(2, 6)] == [True, True, True, False]
    state.receive(5, many)
    assert state.body_bytes == 400 * len(token())
    assert state.keep(6, many), "there is room again"


@pytest.mark.parametrize("ending", ["", "eof", "reset", "silence"])
def test_an_answer_leaves_nothing_to_the_garbage_collector(ending):
    """Its pauses are the client's own, in the middle of other answers."""
    reads = [CHUNKED, *ANSWER, *([END] if not ending else [])]
    gc.collect()
    gc.disable()
    try:
        played(reads, ending, keeps=True)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_nothing_is_kept_before_the_head_nor_of_an_answer_that_failed_or_has_a_length():
    for head in (HEAD, CHUNKED.replace(b"200 OK", b"500 No"), HEAD + b"content-length: 9\r\n\r\n"):
        state = exchange()
        state.receive(1, head)
        assert not state.keep(2, framed(token()))
