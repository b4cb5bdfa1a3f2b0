"""From an exchange that is over to a response: what was said, when, and which error it is. Pure.

A good status is not success: servers send 200 with an error event, with an empty body, or stop
before the finish reason. Success is a finish reason, something in the answer, and a whole body.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from bench.client.exchange import Exchange, Phases
from bench.client.masking import Mask
from bench.dialects import Dialect, read_claims
from bench.model.record import Value
from bench.model.trial import Connection, Response, ResponseError
from bench.stream.http_answer import Head
from bench.stream.timing import Stamps, measure, stream_chunks
from bench.wire.faults import excerpt, message_of
from bench.wire.protocol import Decoded

SIMULATOR = "gateway-bench-simulator"
_SIMULATOR_HEADER = "x-gateway-bench-simulator"
_EMPTY_IS_FINE = ("length", "content_filter")
"""Finish reasons that explain an answer without text: cut or withheld before the first token."""
_TOO_MANY_REQUESTS = 429
_STALE_WITHIN_NS = 1_000_000_000
_REDIRECTS = range(300, 400)
_SEED_CODES = {
    "connect_timeout": "TimeoutError",
    "header_timeout": "TimeoutError",
    "idle_timeout": "TimeoutError",
    "total_timeout": "TimeoutError",
    "upstream_stream_error": "upstream_stream_error",
    "invalid_stream_json": "invalid_stream_json",
    "stream_incomplete": "stream_read_error",
    "empty_answer": "stream_read_error",
    "response_too_large": "stream_read_error",
}


class Circumstances(Value, frozen=True, kw_only=True):
    """What the client knows besides the bytes."""

    t0_ns: int
    phases: Phases
    lag_ns: int | None
    connection: Connection | None
    http_version: Literal["1.1", "2"] | None = None
    local_port: int | None
    asked_stream: bool
    dialect: Dialect
    mask: Mask
    utcnow: datetime
    stamped_by: Literal["kernel", "loop"] | None = None
    keeps_chunks: bool = True


def error_of(code: str, message: str, *, status: int | None = None) -> ResponseError:
    """Return an error with the word that version-2 documents have for it.

    What breaks after the headers was ``stream_read_error`` there, before them ``request_error``.
    """
    default = "request_error" if status is None else "stream_read_error"
    return ResponseError(
        code=code, seed_code=_SEED_CODES.get(code, default), message=message, status=status
    )


def respond(exchange: Exchange, circumstances: Circumstances) -> Response:
    """Return what an exchange that is over came to."""
    decoded = exchange.decoder.finish()
    head = exchange.http.head
    headers = head.headers if head else {}
    stamps = _stamps(exchange, decoded, circumstances)
    error = _error(exchange, decoded, circumstances)
    claims = read_claims(circumstances.dialect, headers, decoded.fields)
    response = Response(
        status=head.status if head else None,
        content=decoded.content,
        reasoning=decoded.reasoning,
        tool_calls=tuple(decoded.tool_calls),
        opaque=decoded.opaque,
        finish_reason=decoded.finish_reason,
        provider_finish_reason=decoded.provider_finish_reason,
        response_model=decoded.response_model,
        request_id=claims.request_id or headers.get("x-request-id"),
        generation_id=claims.generation_id,
        created_s=claims.created_s,
        system_fingerprint=decoded.system_fingerprint,
        usage=decoded.usage,
        stream_chunks=(
            stream_chunks(decoded.deltas, t0_ns=stamps.t0_ns) if circumstances.keeps_chunks else ()
        ),
        body_bytes=exchange.body_bytes or None,
        timing=measure(
            stamps, decoded.deltas, decoded.usage, asked_stream=circumstances.asked_stream
        ),
        error=error,
        connection=circumstances.connection,
        http_version=circumstances.http_version,
        local_port=circumstances.local_port,
        served_provider=claims.served_provider,
        served_region=claims.served_region,
        served_model=claims.served_model,
        gateway_cost_usd=claims.cost_usd,
        gateway_overhead_ms=claims.overhead_ms,
        cache_hit=claims.cache_hit,
        fallback=claims.fallback,
        simulated=decoded.system_fingerprint == SIMULATOR or _SIMULATOR_HEADER in headers,
    )
    return circumstances.mask.response(response)


def is_stale_connection(exchange: Exchange) -> bool:
    """Return whether a kept connection died before a byte of this answer came.

    Only at once after sending: a server that took the request and worked on it was not stale, and
    asking it again could be billed twice and would hide its death.
    """
    sent, ended = exchange.sent_ns, exchange.ended_ns
    if exchange.ending.code != "connect_reset" or exchange.reads or ended is None:
        return False
    return sent is None or ended - sent < _STALE_WITHIN_NS


def _stamps(exchange: Exchange, decoded: Decoded, circumstances: Circumstances) -> Stamps:
    phases = circumstances.phases
    return Stamps(
        t0_ns=circumstances.t0_ns,
        sent_ns=exchange.sent_ns,
        headers_ns=exchange.headers_ns,
        first_event_ns=decoded.first_event_ns,
        ended_ns=exchange.ended_ns,
        dns_ns=phases.dns_ns,
        connect_ns=phases.connect_ns,
        proxy_ns=phases.proxy_ns,
        tls_ns=phases.tls_ns,
        lag_ns=circumstances.lag_ns,
        stamped_by=circumstances.stamped_by,
        is_body_open=exchange.done_ns is not None and exchange.ending.code is not None,
    )


def _error(
    exchange: Exchange, decoded: Decoded, circumstances: Circumstances
) -> ResponseError | None:
    broken, message = exchange.ending.code, exchange.ending.message
    head = exchange.http.head
    if head is None:
        return error_of(broken or "invalid_http", message)
    if not exchange.is_success_status:
        return _status_error(head, bytes(exchange.error_body), circumstances)
    fault = decoded.fault
    if fault is not None and (not broken or fault.code == "upstream_stream_error"):
        return error_of(fault.code, fault.message, status=head.status)
    is_done = decoded.finish_reason is not None and exchange.done_ns is not None
    if broken and not is_done:
        return error_of(broken, f"{message}, {_progress(decoded)}", status=head.status)
    return _answer_error(decoded, head.status)


def _answer_error(decoded: Decoded, status: int) -> ResponseError | None:
    """Judge an answer that came whole."""
    if not decoded.event_count and not decoded.is_json:
        return error_of("empty_answer", f"HTTP {status} with an empty body", status=status)
    if decoded.finish_reason is None:
        message = f"the answer ended without a finish reason, {_progress(decoded)}"
        return error_of("stream_incomplete", message, status=status)
    is_empty = not (decoded.content or decoded.reasoning or decoded.tool_calls)
    if is_empty and decoded.finish_reason not in _EMPTY_IS_FINE:
        message = f"nothing was answered; the finish reason is `{decoded.finish_reason}`"
        return error_of("empty_answer", message, status=status)
    return None


def _progress(decoded: Decoded) -> str:
    chunks = len(decoded.deltas)
    return f"after {chunks} chunk{'' if chunks == 1 else 's'}"


def _status_error(head: Head, body: bytes, circumstances: Circumstances) -> ResponseError:
    said = message_of(body) or "no message"
    if head.status in _REDIRECTS:
        # Following it could hand the key to another server.
        said = f"redirect to `{excerpt(head.headers.get('location', 'nowhere'))}`, not followed"
    limited = head.status == _TOO_MANY_REQUESTS
    return ResponseError(
        code="rate_limited" if limited else f"http_{head.status}",
        seed_code=f"http_{head.status}",
        message=f"HTTP {head.status}: {said}",
        status=head.status,
        retry_after_ms=_retry_after(head.headers, circumstances),
    )


def _retry_after(headers: dict[str, str], circumstances: Circumstances) -> float | None:
    """Return the wait a server asks for, in ms: seconds, milliseconds or a date.

    A date is compared with the server's own clock where it sends one.
    """
    exact = _positive(headers.get("retry-after-ms"))
    if exact is not None:
        return exact
    names = circumstances.dialect.retry_after
    value = next((headers[name] for name in names if name in headers), None)
    seconds = _positive(value)
    if seconds is not None:
        return seconds * 1000
    until = _date(value)
    if until is None:
        return None
    now = _date(headers.get("date")) or circumstances.utcnow
    return max(0.0, (until - now).total_seconds() * 1000)


def _positive(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _date(value: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(value or "")
    except (ValueError, OverflowError):  # the latter of years and zones with too many digits
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
