import gzip

import pytest

from bench.stream import http_answer
from bench.stream.http_answer import HttpAnswer

_CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
_SIZED = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc"
_TILL_EOF = b"HTTP/1.1 200 OK\r\n\r\nabc"


def _read(raw: bytes, size: int = 0) -> tuple[HttpAnswer, bytes]:
    answer = HttpAnswer()
    size = size or len(raw)
    body = b"".join(answer.feed(raw[at : at + size]) for at in range(0, len(raw), size))
    return answer, body


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize(
    ("raw", "is_reusable"),
    [
        pytest.param(_CHUNKED, True, id="chunked"),
        pytest.param(_SIZED, True, id="content length"),
        pytest.param(
            _SIZED.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"), False, id="close"
        ),
        pytest.param(_SIZED.replace(b"1.1", b"1.0", 1), False, id="http 1.0"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" + _SIZED, True, id="behind an interim one"),
        pytest.param(b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n" + _CHUNKED, True, id="early hints"),
        pytest.param(_CHUNKED.replace(b"0\r\n\r\n", b"0\r\nx: 1\r\n\r\n"), True, id="trailers"),
        pytest.param(_SIZED + b"noise", False, id="noise behind it"),
        pytest.param(_SIZED + _SIZED, False, id="a second one behind it"),
    ],
)
def test_a_body_ends_by_its_framing(raw: bytes, is_reusable: bool, size: int) -> None:
    answer, body = _read(raw, size)
    assert answer.head is not None
    assert answer.head.status == 200
    assert (body, answer.is_complete, answer.broken) == (b"abc", True, None)
    assert answer.is_reusable is is_reusable


def test_without_framing_the_end_of_file_is_the_end() -> None:
    answer, body = _read(_TILL_EOF)
    assert (body, answer.is_complete) == (b"abc", False)
    assert answer.eof()
    assert answer.is_complete
    assert not answer.is_reusable


@pytest.mark.parametrize("raw", [_CHUNKED[:-7], _SIZED[:-1]], ids=["chunked", "content length"])
def test_the_end_of_file_in_a_framed_body_is_no_end(raw: bytes) -> None:
    answer, _ = _read(raw)
    assert not answer.eof()
    assert not answer.is_complete


@pytest.mark.parametrize("status", [204, 304])
def test_a_status_without_body_is_complete_at_once(status: int) -> None:
    answer, body = _read(b"HTTP/1.1 %d X\r\n\r\n" % status)
    assert (body, answer.is_complete) == (b"", True)


def test_repeated_headers_are_joined_and_names_are_lower_case() -> None:
    answer, _ = _read(b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 0\r\n\r\n")
    assert answer.head is not None
    assert answer.head.headers == {"x-a": "1, 2", "content-length": "0"}


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", "not an HTTP/1.1 response", id="another protocol"),
        pytest.param(_CHUNKED.replace(b"3\r\n", b"zz\r\n"), "chunk size", id="chunk size"),
        pytest.param(
            b"HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nabc",
            "another protocol",
            id="upgrade",
        ),
        pytest.param(
            _SIZED.replace(b"\r\n\r\n", b"\r\ncontent-encoding: zstd\r\n\r\n"), "zstd", id="coding"
        ),
        pytest.param(
            _SIZED.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n"), "gzip", id="no gzip"
        ),
    ],
)
def test_what_is_no_answer_is_said_to_be_none(raw: bytes, reason: str, size: int) -> None:
    answer, _ = _read(raw, size)
    assert answer.broken is not None
    assert reason in answer.broken.reason
    assert not answer.broken.is_too_large
    assert not answer.is_complete
    assert not answer.eof()
    assert answer.feed(b"more") == b""


def test_body_before_broken_framing_is_not_lost() -> None:
    _, body = _read(_CHUNKED.replace(b"0\r\n", b"zz\r\n"))
    assert body == b"abc"


def test_a_coded_body_comes_out_decoded() -> None:
    packed = gzip.compress(b"hello")
    raw = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(packed)
    answer, body = _read(raw + packed, 1)
    assert (body, answer.is_complete) == (b"hello", True)
    assert answer.decoded_bytes == 5


def test_endless_headers_are_cut_off() -> None:
    answer = HttpAnswer()
    answer.feed(b"HTTP/1.1 200 OK\r\n")
    line = b"x: " + b"y" * 1000 + b"\r\n"
    for _ in range(http_answer.MAX_HEAD_BYTES // len(line) + 1):
        answer.feed(line)
    assert answer.broken is not None
    assert answer.broken.is_too_large


def test_an_endless_body_is_cut_off() -> None:
    answer = HttpAnswer()
    answer.feed(b"HTTP/1.1 200 OK\r\n\r\n")
    block = bytes(1024 * 1024)
    for _ in range(http_answer.MAX_BODY_BYTES // len(block)):
        answer.feed(block)
    assert answer.broken is not None
    assert answer.broken.is_too_large
    assert answer.decoded_bytes <= http_answer.MAX_BODY_BYTES
