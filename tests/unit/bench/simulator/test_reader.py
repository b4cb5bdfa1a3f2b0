import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.simulator.reader import MOST_BODY, MOST_HEAD, Incoming, RequestReader

POST = b"POST /v1/chat/completions?x=1 HTTP/1.1\r\nHost: h\r\nX-Simulate: n=3\r\ncontent-length: 5\r\n\r\nhello"
CHUNKED = b"POST /a HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
OLD = b"GET / HTTP/1.0\r\n\r\n"
STREAM = POST + CHUNKED + b"GET /b HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n"


def read(data: bytes, *cuts: int) -> list[Incoming]:
    reader, found, begin = RequestReader(), [], 0
    for at_ns, end in enumerate([*sorted(cuts), len(data)]):
        found += reader.feed(data[begin:end], at_ns)
        begin = end
    return found


@given(st.sets(st.integers(0, len(STREAM)), max_size=6))
def test_cuts_do_not_change_what_is_read(cuts: set[int]) -> None:
    requests = read(STREAM, *cuts)
    assert [(r.method, r.path, r.body, r.keep_alive) for r in requests] == [
        ("POST", "/v1/chat/completions?x=1", b"hello", True),
        ("POST", "/a", b"abc", True),
        ("GET", "/b", b"", False),
    ]
    assert requests[0].headers["x-simulate"] == "n=3"


def test_a_request_has_the_stamp_of_the_read_that_completed_it() -> None:
    assert [request.read_ns for request in read(STREAM, 10, len(POST))] == [1, 2, 2]


def test_http_1_0_knows_no_chunks() -> None:
    (request,) = read(OLD)
    assert (request.chunked, request.keep_alive) == (False, False)


def test_a_client_may_wait_for_leave_to_send_the_body() -> None:
    reader = RequestReader()
    head = b"POST / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\n"
    assert reader.feed(head, 0) == []
    assert reader.wants_continue
    assert reader.feed(b"x", 1)[0].body == b"x"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00", 400, id="TLS"),
        pytest.param(b"GET / HTTP/1.1\r\nhost h\r\n\r\n", 400, id="a header without colon"),
        pytest.param(
            b"GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\nx", 400, id="upgrade"
        ),
        pytest.param(b"GET / HTTP/1.1\r\nx: " + b"a" * (MOST_HEAD + 1), 431, id="endless headers"),
        pytest.param(
            b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % (MOST_BODY + 1), 413, id="declared"
        ),
        pytest.param(
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%b"
            % (MOST_BODY + 1, b"a" * (MOST_BODY + 1)),
            413,
            id="sent",
        ),
    ],
)
def test_what_is_no_request_is_refused_once(data: bytes, status: int) -> None:
    reader = RequestReader()
    found = [r for r in reader.feed(data, 0) if r.refusal is not None]
    assert [r.refusal[0] for r in found if r.refusal] == [status]
    assert not found[0].keep_alive
    assert reader.feed(POST, 1) == []
