"""One request as it was read, what is to be sent for it, and the record of what was. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

import msgspec

from bench.simulator.scenario import End
from bench.simulator.timeline import Write

MARK = ("x-gateway-bench-simulator", "1")

Ended = Literal[
    "completed", "cut", "eof", "reset", "error", "stall", "hang", "client_gone", "stopped"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request, read to its end. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    received_ns: int
    """``time.perf_counter_ns`` when the read arrived that completed it."""
    connection: int


class RequestRecord(msgspec.Struct, kw_only=True):
    """One line of the request log. ``…_ns`` are readings of the machine's monotonic clock."""

    id: int
    x_request_id: str
    client_request_id: str | None
    connection: int
    method: str
    path: str
    received_ns: int
    status: int = 0
    api: str | None = None
    """``chat``, ``messages`` or ``responses``; ``None`` = nothing was asked of a model."""
    model: str | None = None
    """As it was asked for."""
    provider: str | None = None
    """Who answered."""
    prompt_hash: str | None = None
    stream: bool | None = None
    from_book: bool | None = None
    cache_hit: bool | None = None
    fallback: bool | None = None
    prompt_tokens: int | None = None
    planned_tokens: int | None = None
    """Completion tokens of the whole answer, reasoning included."""
    sent_tokens: int = 0
    headers_sent_ns: int | None = None
    first_content_ns: int | None = None
    last_content_ns: int | None = None
    ended_ns: int | None = None
    """Just before the last write, the closing or, where the client left, its noticing."""
    ended: Ended | None = None
    events: list[tuple[int, str, int, int]] = []
    """Of each event: sent at, kind, characters, how much later than planned (nanoseconds)."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """What is to be sent for one request."""

    record: RequestRecord
    status: int
    headers: list[tuple[str, str]]
    writes: Iterator[Write]
    length: int | None = None
    """``content-length``; ``None`` = chunks, or the end of the connection in HTTP/1.0."""
    headers_ns: int = 0
    """When the headers go out, counted from the request."""
    late_headers: bool = True
    """Headers go out in one write with the first bytes of the body, ``headers_ns`` is void."""
    linger_ns: int = 0
    end: End | None = None
    hang: bool = False
    reset_first: bool = False

    def head(self, *, chunked: bool, close: bool) -> bytes:
        """Return status line and headers."""
        lines = [f"HTTP/1.1 {self.status} {_reason(self.status)}"]
        lines += [f"{name}: {value}" for name, value in (*self.headers, MARK)]
        lines.append(f"x-request-id: {self.record.x_request_id}")
        if self.length is not None:
            lines.append(f"content-length: {self.length}")
        elif chunked:
            lines.append("transfer-encoding: chunked")
        if close:
            lines.append("connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Simulated"
