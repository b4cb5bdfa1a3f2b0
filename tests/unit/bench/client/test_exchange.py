import pytest

from bench.client.exchange import AFTER_DONE_NS, Exchange
from tests.replay import exchange

S = 1_000_000_000
_HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


_HELLO = _chunk(b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n')
_DONE = _chunk(b"data: [DONE]\n\n")
_END = b"0\r\n\r\n"


def _code(state: Exchange) -> str | None:
    assert state.is_over
    return state.ending.code


def test_it_is_over_with_the_last_chunk_and_what_follows_changes_nothing() -> None:
    state = exchange()
    state.receive(1, _HEAD + _HELLO)
    assert not state.is_over
    state.receive(2, _DONE)
    assert not state.is_over
    state.receive(3, _END)
    assert (state.is_over, _code(state), state.ended_ns) == (True, None, 3)
    state.reset(9, "late")
    state.eof(9)
    state.expire(10**18)
    assert (_code(state), state.ended_ns) == (None, 3)


def test_headers_are_stamped_with_the_read_that_completed_them() -> None:
    state = exchange()
    state.receive(5, _HEAD[:10])
    assert state.headers_ns is None
    state.receive(6, _HEAD[10:])
    assert state.headers_ns == 6


def test_a_body_that_goes_on_after_done_is_given_a_second() -> None:
    state = exchange()
    state.receive(5, _HEAD + _HELLO + _DONE)
    assert state.due_ns == 5 + AFTER_DONE_NS
    state.receive(6, _chunk(b": more\n\n"))
    assert state.due_ns == 5 + AFTER_DONE_NS
    state.expire(state.due_ns - 1)
    assert not state.is_over
    state.expire(state.due_ns)
    assert (_code(state), state.ended_ns) == ("stream_incomplete", 6)


def test_before_headers_only_the_deadline_ends_it() -> None:
    state = exchange(deadline_ns=9 * S, idle_ns=2 * S)
    assert state.due_ns == 9 * S
    state.expire(8 * S)
    assert not state.is_over
    state.expire(9 * S)
    assert (_code(state), state.ended_ns) == ("header_timeout", 9 * S)


def test_silence_after_headers_is_an_idle_timeout() -> None:
    state = exchange(deadline_ns=60 * S, idle_ns=2 * S)
    state.receive(1 * S, _HEAD)
    state.receive(2 * S, _HELLO)
    state.expire(3 * S)
    assert not state.is_over
    state.expire(4 * S)
    assert _code(state) == "idle_timeout"
    assert "no byte for 2.0 s" in state.ending.message


def test_comments_keep_a_stream_alive() -> None:
    state = exchange(deadline_ns=60 * S, idle_ns=2 * S)
    state.receive(1 * S, _HEAD)
    state.receive(3 * S - 1, _chunk(b":\n\n"))
    state.expire(3 * S)
    assert not state.is_over


def test_the_deadline_in_a_flowing_stream_is_a_total_timeout() -> None:
    state = exchange(deadline_ns=3 * S, idle_ns=2 * S)
    state.receive(2 * S, _HEAD + _HELLO)
    state.expire(3 * S)
    assert (_code(state), state.ended_ns) == ("total_timeout", 3 * S)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        pytest.param(b"", "connect_reset", id="before an answer"),
        pytest.param(_HEAD[:9], "connect_reset", id="in the headers"),
        pytest.param(_HEAD, "stream_incomplete", id="before the body"),
        pytest.param(_HEAD + _HELLO, "stream_incomplete", id="in the body"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\nabc", None, id="a body that ends so"),
    ],
)
def test_the_end_of_file_means_what_the_framing_makes_of_it(raw: bytes, code: str | None) -> None:
    state = exchange()
    if raw:
        state.receive(1, raw)
    state.eof(2)
    assert (_code(state), state.ended_ns) == (code, 2)


def test_a_reset_is_one_wherever_it_comes() -> None:
    state = exchange()
    state.receive(1, _HEAD)
    state.reset(2, "reset by peer")
    assert _code(state) == "connect_reset"


def test_what_is_no_http_ends_it() -> None:
    state = exchange()
    state.receive(1, b"SSH-2.0-OpenSSH\r\n")
    assert _code(state) == "invalid_http"


def test_an_error_body_is_kept_in_part() -> None:
    state = exchange()
    state.receive(1, b"HTTP/1.1 500 X\r\n\r\n" + b"x" * 100_000)
    state.receive(2, b"y" * 100_000)
    state.eof(3)
    assert len(state.error_body) == 64 * 1024
    assert not state.is_success_status
