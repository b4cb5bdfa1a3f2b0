from datetime import UTC, datetime

import pytest

from bench.client.exchange import Exchange, Phases
from bench.client.masking import Mask
from bench.client.verdict import error_of, is_stale_connection, respond
from bench.dialects import DIALECTS
from bench.model.trial import Response
from tests.replay import circumstances, exchange, replay

_NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)


def _event(text: str) -> bytes:
    return b"data: " + text.encode() + b"\n\n"


_HELLO = _event('{"choices":[{"delta":{"content":"hi"}}]}')
_STOP = _event('{"choices":[{"delta":{},"finish_reason":"stop"}]}')
_DONE = b"data: [DONE]\n\n"


def _head(status: int = 200, *lines: str) -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status} X", *lines, "", "")).encode()


def _answer(body: bytes, status: int = 200, *lines: str) -> Response:
    return replay([(1, _head(status, *lines) + body)])


def _broken(body: bytes) -> Response:
    """A stream that promises more and is reset."""
    state = exchange()
    state.receive(1, _head(200, "content-length: 99999") + body)
    state.reset(2, "reset by peer")
    return respond(state, circumstances())


def _code(response: Response) -> str | None:
    return response.error.code if response.error else None


def test_a_finish_reason_and_an_end_are_success() -> None:
    response = _answer(_HELLO + _STOP)
    assert (response.error, response.content, response.finish_reason) == (None, "hi", "stop")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b"", "empty_answer", id="nothing at all"),
        pytest.param(b": ping\n\n", "empty_answer", id="only comments"),
        pytest.param(_DONE, "stream_incomplete", id="only the end mark"),
        pytest.param(_HELLO + _DONE, "stream_incomplete", id="no finish reason"),
        pytest.param(_STOP + _DONE, "empty_answer", id="a finish without an answer"),
        pytest.param(_STOP.replace(b"stop", b"length"), None, id="cut before the first token"),
        pytest.param(_STOP.replace(b"stop", b"content_filter"), None, id="withheld"),
        pytest.param(_HELLO + _event('{"error":"x"}') + _STOP, "upstream_stream_error", id="error"),
        pytest.param(_HELLO + _event("{") + _STOP, "invalid_stream_json", id="wrong JSON"),
        pytest.param(b'{"choices":[]}', "stream_incomplete", id="JSON without a choice"),
        pytest.param(b"<html>hello</html>", "invalid_stream_json", id="a page"),
    ],
)
def test_a_good_status_is_not_success(body: bytes, code: str | None) -> None:
    assert _code(_answer(body)) == code


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(_HELLO, "connect_reset", id="in the answer"),
        pytest.param(_HELLO + _STOP, "connect_reset", id="after the finish, usage may be lost"),
        pytest.param(_HELLO + _STOP + _DONE, None, id="after the end mark"),
        pytest.param(_HELLO + _DONE, "connect_reset", id="end mark without a finish"),
        pytest.param(_event('{"error":"x"}'), "upstream_stream_error", id="the error was told"),
        pytest.param(_event("{") + _HELLO, "connect_reset", id="the break is the better reason"),
        pytest.param(b'{"choices":[', "connect_reset", id="cut JSON"),
    ],
)
def test_a_broken_connection_is_the_reason_unless_the_answer_was_whole(
    body: bytes, code: str | None
) -> None:
    response = _broken(body)
    assert _code(response) == code
    assert response.timing.body_not_ended is (_DONE in body)


def test_a_break_says_how_far_it_came() -> None:
    error = _broken(_HELLO).error
    assert error is not None
    assert error.message == "the connection broke: reset by peer, after 1 chunk"
    assert error.status == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [(_HELLO + _STOP + _DONE, None), (_HELLO + _DONE, "stream_incomplete")],
    ids=["finished", "without a finish"],
)
def test_a_body_closed_after_its_end_mark_is_judged_by_its_finish(
    body: bytes, code: str | None
) -> None:
    state = exchange()
    state.receive(1, _head(200, "content-length: 99999") + body)
    state.expire(state.due_ns)
    response = respond(state, circumstances())
    assert (_code(response), response.timing.body_not_ended) == (code, True)


def test_an_answer_that_never_ended_is_as_long_as_what_was_read() -> None:
    response = _broken(_HELLO + _STOP + _DONE)
    assert response.timing.total_ms == 0.0


@pytest.mark.parametrize(
    ("status", "lines", "code", "message", "retry_ms"),
    [
        (500, (), "http_500", "HTTP 500: no message", None),
        (404, (), "http_404", "HTTP 404: no message", None),
        (302, ("location: http://other/",), "http_302",
         "HTTP 302: redirect to `http://other/`, not followed", None),
        (304, (), "http_304", "HTTP 304: redirect to `nowhere`, not followed", None),
        (429, (), "rate_limited", "HTTP 429: no message", None),
        (429, ("retry-after: 2",), "rate_limited", "HTTP 429: no message", 2000.0),
        (429, ("retry-after: 0.5",), "rate_limited", "HTTP 429: no message", 500.0),
        (429, ("retry-after-ms: 70", "retry-after: 1"), "rate_limited", "HTTP 429: no message", 70.0),
        (503, ("retry-after: 3",), "http_503", "HTTP 503: no message", 3000.0),
        (429, ("retry-after: soon",), "rate_limited", "HTTP 429: no message", None),
        (429, ("retry-after: -1",), "rate_limited", "HTTP 429: no message", None),
        (429, ("retry-after: inf",), "rate_limited", "HTTP 429: no message", None),
        (429, ("retry-after: Fri, 01 May 99999999999999999999 12:00:30 GMT",), "rate_limited",
         "HTTP 429: no message", None),
        (429, ("retry-after: Fri, 01 May 2026 12:00:30 +99999999999999999999",), "rate_limited",
         "HTTP 429: no message", None),
        (429, ("retry-after: Fri, 01 May 2026 12:00:30 GMT",), "rate_limited",
         "HTTP 429: no message", 30_000.0),
        (429, ("date: Fri, 01 May 2026 12:00:20 GMT",
               "retry-after: Fri, 01 May 2026 12:00:30 GMT"), "rate_limited",
         "HTTP 429: no message", 10_000.0),
        (429, ("retry-after: Fri, 01 May 2020 12:00:30 GMT",), "rate_limited",
         "HTTP 429: no message", 0.0),
        (429, ("retry-after: 01 May 2026 12:00:30",), "rate_limited",
         "HTTP 429: no message", 30_000.0),
    ],
)  # fmt: skip
def test_a_status_is_an_error_with_the_wait_that_was_asked_for(
    status: int, lines: tuple[str, ...], code: str, message: str, retry_ms: float | None
) -> None:
    state = exchange()
    state.receive(1, _head(status, *lines))
    state.eof(2)
    response = respond(state, circumstances(utcnow=_NOW))
    assert response.error is not None
    assert (response.error.code, response.error.message) == (code, message)
    assert response.error.seed_code == f"http_{status}"
    assert (response.error.status, response.error.retry_after_ms) == (status, retry_ms)


def test_a_status_counts_even_if_its_body_was_cut() -> None:
    state = exchange()
    state.receive(1, _head(503, "content-length: 999") + b'{"error":{"mess')
    state.eof(2)
    error = respond(state, circumstances()).error
    assert error is not None
    assert (error.code, error.message) == ("http_503", 'HTTP 503: {"error":{"mess')


@pytest.mark.parametrize(
    ("code", "status", "seed"),
    [
        ("connect_refused", None, "request_error"),
        ("connect_reset", None, "request_error"),
        ("connect_reset", 200, "stream_read_error"),
        ("invalid_http", 200, "stream_read_error"),
        ("dns_error", None, "request_error"),
        ("connect_timeout", None, "TimeoutError"),
        ("header_timeout", None, "TimeoutError"),
        ("idle_timeout", 200, "TimeoutError"),
        ("total_timeout", 200, "TimeoutError"),
        ("stream_incomplete", 200, "stream_read_error"),
        ("empty_answer", 200, "stream_read_error"),
        ("invalid_stream_json", 200, "invalid_stream_json"),
        ("upstream_stream_error", 200, "upstream_stream_error"),
    ],
)
def test_every_code_has_its_word_of_version_2(code: str, status: int | None, seed: str) -> None:
    assert error_of(code, "x", status=status).seed_code == seed


def test_a_key_that_is_echoed_is_masked_wherever_it_turns_up() -> None:
    mask = Mask((("Authorization", "Bearer sk-secret-1"), ("x-portkey-key", "pk-secret-2")))
    told = 'data: {"choices":[{"delta":{"content":"sk-secret-1","reasoning":"pk-secret-2",'
    call = '"tool_calls":[{"function":{"name":"f","arguments":"sk-secret-1"}}]}}]}\n\n'
    state = exchange()
    state.receive(1, _head() + told.encode() + call.encode())
    state.eof(2)
    response = respond(state, circumstances(mask=mask))
    refused = exchange()
    refused.receive(1, _head(401) + b'{"error":"no such key: Bearer sk-secret-1"}')
    refused.eof(2)
    error = respond(refused, circumstances(mask=mask)).error
    assert error is not None
    assert error.message == "HTTP 401: no such key: [secret]"
    assert (response.content, response.reasoning) == ("[secret]", "[secret]")
    assert response.tool_calls[0].arguments == "[secret]"


def test_claims_and_circumstances_stand_in_the_response() -> None:
    lines = ("x-request-id: r1", "x-served-provider: p1", "x-fallback: true", "x-cache: HIT")
    state = exchange()
    state.receive(5, _head(200, *lines) + _HELLO + _STOP)
    state.eof(6)
    response = respond(
        state,
        circumstances(
            dialect=DIALECTS["llmgateway"],
            phases=Phases(dns_ns=1000, connect_ns=2000, tls_ns=3000),
            lag_ns=4000,
            local_port=77,
        ),
    )
    assert (response.request_id, response.served_provider) == ("r1", "p1")
    assert (response.fallback, response.cache_hit) == (True, True)
    assert (response.connection, response.local_port) == ("cold", 77)
    timing = response.timing
    assert (timing.dns_ms, timing.connect_ms, timing.tls_ms) == (0.001, 0.002, 0.003)
    assert timing.client_lag_ms == 0.004


@pytest.mark.parametrize(
    ("answer", "simulated"),
    [
        pytest.param(_head(200, "x-gateway-bench-simulator: 1") + _HELLO, True, id="header"),
        pytest.param(
            _head() + _event('{"system_fingerprint":"gateway-bench-simulator","choices":[]}'),
            True,
            id="fingerprint, through a gateway that drops headers",
        ),
        pytest.param(_head() + _HELLO, False, id="neither"),
    ],
)
def test_what_the_simulator_made_is_marked(answer: bytes, simulated: bool) -> None:
    assert replay([(1, answer)]).simulated is simulated


def _ended(*, reads: bytes = b"", at_ns: int = 5) -> Exchange:
    state = exchange()
    if reads:
        state.receive(1, reads)
    state.reset(at_ns, "reset by peer")
    return state


def test_only_a_connection_that_died_at_once_and_in_silence_was_stale() -> None:
    assert is_stale_connection(_ended())
    assert not is_stale_connection(_ended(reads=_head()[:4]))
    assert not is_stale_connection(_ended(at_ns=2_000_000_000))
    assert not is_stale_connection(exchange())
    late = exchange(deadline_ns=10)
    late.expire(10)
    assert not is_stale_connection(late)
    unsent = exchange()
    unsent.sent_ns = None
    unsent.reset(5, "closed before")
    assert is_stale_connection(unsent)


@pytest.mark.parametrize(("dialect", "wait_ms"), [("plain", None), ("litellm", 7000.0)])
def test_a_dialect_knows_where_else_a_wait_is_told(dialect: str, wait_ms: float | None) -> None:
    state = exchange()
    state.receive(1, _head(429, "llm_provider-retry-after: 7", "content-length: 0"))
    response = respond(state, circumstances(dialect=DIALECTS[dialect]))
    assert response.error is not None
    assert response.error.retry_after_ms == wait_ms
