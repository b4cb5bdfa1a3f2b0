import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.stream.sse import SseEvent, SseParser


def _events(*pieces: bytes) -> list[tuple[bytes | None, bytes]]:
    parser = SseParser()
    events: list[SseEvent] = []
    for piece in pieces:
        events += parser.feed(piece)
    return [(event.name, event.data) for event in events + parser.flush()]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b"data: a\n\ndata: b\n\n", [(None, b"a"), (None, b"b")], id="lf"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\n\r\n", [(None, b"a"), (None, b"b")], id="crlf"),
        pytest.param(b"data: a\r\rdata: b\r\r", [(None, b"a"), (None, b"b")], id="cr"),
        pytest.param(b"data: a\r\n\ndata: b\r\r\n", [(None, b"a"), (None, b"b")], id="mixed"),
        pytest.param(b"data:a\n\n", [(None, b"a")], id="no space"),
        pytest.param(b"data:  a\n\n", [(None, b" a")], id="only one space goes"),
        pytest.param(b"data: a\ndata: b\n\n", [(None, b"a\nb")], id="several data lines"),
        pytest.param(b"data\n\n", [(None, b"")], id="data without colon is an empty line"),
        pytest.param(b"data:\n\n", [(None, b"")], id="empty data"),
        pytest.param(b": hello\n\ndata: a\n\n", [(None, b"a")], id="comment"),
        pytest.param(b":\n:\n\n", [], id="bare colons are comments"),
        pytest.param(b"event: ping\ndata: a\n\n", [(b"ping", b"a")], id="named"),
        pytest.param(b"data: a\nevent: late\n\n", [(b"late", b"a")], id="name after data"),
        pytest.param(b"event: x\n\ndata: a\n\n", [(None, b"a")], id="name without data is dropped"),
        pytest.param(b"id: 7\nretry: 5\ndata: a\n\n", [(None, b"a")], id="id and retry"),
        pytest.param(b"\n\n\ndata: a\n\n\n\n", [(None, b"a")], id="empty lines"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [(None, b"a")], id="byte order mark"),
        pytest.param(b"data: a", [(None, b"a")], id="no line end at the end"),
        pytest.param(b"data: a\n", [(None, b"a")], id="no blank line at the end"),
        pytest.param(b"nonsense\nfoo: bar\n\n", [], id="unknown fields"),
        pytest.param("data: äö€\n\n".encode(), [(None, "äö€".encode())], id="utf-8"),
    ],
)
def test_bodies_as_real_servers_send_them(
    body: bytes, expected: list[tuple[bytes | None, bytes]]
) -> None:
    assert _events(body) == expected
    assert _events(*(body[at : at + 1] for at in range(len(body)))) == expected


def test_an_event_is_handed_out_at_its_blank_line_and_not_later() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\r\n") == []
    assert [event.data for event in parser.feed(b"\r")] == [b"a"]
    assert parser.feed(b"\n") == []


def test_comments_are_counted_because_they_show_that_a_silent_stream_lives() -> None:
    parser = SseParser()
    parser.feed(b":\n\n: ping\n\ndata: a\n\n")
    assert parser.comments == 2


def test_nothing_is_flushed_twice() -> None:
    parser = SseParser()
    parser.feed(b"data: a")
    assert len(parser.flush()) == 1
    assert parser.flush() == []


_LINES = st.sampled_from(
    [b"data: x", b"data:", b"data: \xe2\x82\xac", b": c", b"event: e", b"id: 1", b"", b"", b"zz"]
)
_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(
    st.lists(st.tuples(_LINES, _ENDS), max_size=12),
    st.lists(st.integers(min_value=1, max_value=5), max_size=30),
)
def test_any_cut_of_the_bytes_gives_the_same_events(
    lines: list[tuple[bytes, bytes]], sizes: list[int]
) -> None:
    body = b"".join(line + end for line, end in lines)
    cuts, at = [], 0
    for size in sizes:
        cuts.append(body[at : at + size])
        at += size
    assert _events(*cuts, body[at:]) == _events(body)
