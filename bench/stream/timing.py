"""Stamps of one answer to the figures of ``Timing``. Formulas and sources: docs/metrics.md.

Every figure that was not measured is ``None``; durations are milliseconds since t0, cut (not
rounded) to a tenth of a microsecond.
"""

from bisect import bisect_left
from collections.abc import Sequence
from operator import sub
from typing import Literal

from bench.model.record import Value
from bench.model.trial import StreamChunk, Timing, Usage
from bench.stream.deltas import CONTENT, REASONING, TOOL, Deltas

_HELD_BACK_FROM_TOKENS = 16
_HELD_BACK_SPAN_NS = 5_000_000
_HELD_BACK_READS = 2
_BUFFERED_SHARE = 0.8
_A_SPAN = 2
"""Fewest tokens or chunks that have a time between them."""


class Stamps(Value, frozen=True, kw_only=True):
    """Readings of one monotonic clock, nanoseconds; the four phases are durations."""

    t0_ns: int
    """The request was handed to the client."""
    sent_ns: int | None = None
    headers_ns: int | None = None
    first_event_ns: int | None = None
    ended_ns: int | None = None
    dns_ns: int | None = None
    connect_ns: int | None = None
    proxy_ns: int | None = None
    tls_ns: int | None = None
    lag_ns: int | None = None
    """Largest lag of the client's event loop meanwhile."""
    stamped_by: Literal["kernel", "loop"] | None = None
    is_body_open: bool = False
    """The answer said it was done, but its body did not end."""


def milliseconds(nanoseconds: int) -> float:
    """Return a duration in milliseconds, cut to a tenth of a microsecond."""
    return nanoseconds // 100 / 10_000


def stream_chunks(deltas: Deltas, *, t0_ns: int) -> tuple[StreamChunk, ...]:
    """Return the deltas as they are written down."""
    return tuple(
        # As in `milliseconds`; a call per token would double the cost of a response.
        StreamChunk(at_ms=(at - t0_ns) // 100 / 10_000, characters=size, kind=kind, read=read)
        for at, size, kind, read in deltas.rows()
    )


def measure(stamps: Stamps, deltas: Deltas, usage: Usage | None, *, asked_stream: bool) -> Timing:
    """Compute every timing of one answer.

    Args:
        stamps: What happened when; a stamp that is ``None`` did not happen.
        deltas: Non-empty reasoning, content and tool-call deltas, in order of arrival. Role-only,
            empty and usage-only events and ``[DONE]`` are none.
        usage: Token counts as the gateway told them.
        asked_stream: Whether a stream was asked for: one body in its place is held back.
    """
    t0_ns, token_at = stamps.t0_ns, deltas.at_ns
    content_at, sizes = _content(deltas)
    characters = sum(sizes)
    reads = len(set(deltas.reads))
    gaps = _gaps(token_at)
    is_all_content = len(content_at) == len(token_at)
    content_gaps = gaps if is_all_content else _gaps(content_at)
    itl = _gap_list(gaps)
    total = None if stamps.ended_ns is None else stamps.ended_ns - t0_ns
    ttft = content_at[0] - t0_ns if content_at else None
    generation = max(0, total - ttft) if total is not None and ttft is not None else None
    burst = _burst_ratio(content_at, sizes, characters, stamps)
    return Timing(
        dns_ms=_ms(stamps.dns_ns),
        connect_ms=_ms(stamps.connect_ns),
        proxy_ms=_ms(stamps.proxy_ns),
        tls_ms=_ms(stamps.tls_ns),
        sent_ms=_ms(stamps.sent_ns, since=t0_ns),
        headers_ms=_ms(stamps.headers_ns, since=t0_ns),
        first_event_ms=_ms(stamps.first_event_ns, since=t0_ns),
        first_reasoning_ms=_ms(_first(deltas, REASONING), since=t0_ns),
        first_content_ms=_ms(ttft),
        first_tool_call_ms=_ms(_first(deltas, TOOL), since=t0_ns),
        first_token_ms=_ms(token_at[0], since=t0_ns) if token_at else None,
        last_token_ms=_ms(token_at[-1], since=t0_ns) if token_at else None,
        last_content_ms=_ms(content_at[-1], since=t0_ns) if content_at else None,
        total_ms=_ms(total),
        generation_ms=_ms(generation),
        visible_tokens_per_second=_tokens_per_second(usage, generation),
        content_chunk_count=len(content_at),
        average_content_chunk_characters=characters / len(sizes) if sizes else None,
        max_content_stall_ms=_ms(max(content_gaps, default=None)),
        final_content_burst_ratio=burst,
        buffered=_buffered(ttft, total, len(content_at), burst),
        held_back=_held_back(deltas, reads, usage, asked_stream=asked_stream),
        coalesced_share=_coalesced_share(len(token_at), reads),
        itl_ms=itl,
        content_itl_ms=itl if is_all_content else _gap_list(content_gaps),
        tpot_ms=_tpot(deltas, usage),
        visible_tpot_ms=_visible_tpot(content_at, deltas, usage),
        client_lag_ms=_ms(stamps.lag_ns),
        stamped_by=stamps.stamped_by,
        body_not_ended=stamps.is_body_open,
    )


def _ms(at_ns: int | None, *, since: int = 0) -> float | None:
    return None if at_ns is None else milliseconds(at_ns - since)


def _first(deltas: Deltas, kind: int) -> int | None:
    row = deltas.kinds.find(kind)
    return None if row < 0 else deltas.at_ns[row]


def _gaps(at_ns: Sequence[int]) -> list[int]:
    return list(map(sub, at_ns[1:], at_ns))


def _gap_list(gaps: Sequence[int]) -> tuple[float, ...] | None:
    return tuple([gap // 100 / 10_000 for gap in gaps]) or None


def _content(deltas: Deltas) -> tuple[Sequence[int], Sequence[int]]:
    """Return when content came, and how many characters."""
    if deltas.kinds.count(CONTENT) == len(deltas):  # nearly always: no row needs a look
        return deltas.at_ns, deltas.characters
    rows = deltas.of_kind(CONTENT)
    return [deltas.at_ns[row] for row in rows], [deltas.characters[row] for row in rows]


def _tokens_per_second(usage: Usage | None, generation_ns: int | None) -> float | None:
    visible = usage.visible_completion_tokens if usage else None
    if visible is None or visible < _A_SPAN or not generation_ns:
        return None
    return (visible - 1) / (generation_ns / 1e9)


def _burst_ratio(
    at_ns: Sequence[int], sizes: Sequence[int], characters: int, stamps: Stamps
) -> float | None:
    """Return the share of content characters that came in the last tenth of the total time."""
    if stamps.ended_ns is None or not at_ns:
        return None
    # In tenths and integers: a stamp on the border is inside, whatever its size as a float.
    border = 9 * (stamps.ended_ns - stamps.t0_ns)
    # Stamps ascend: the first that is inside is found in a few steps.
    row = bisect_left(at_ns, border, key=lambda at: 10 * (at - stamps.t0_ns))
    return sum(sizes[row:]) / characters


def _buffered(ttft: int | None, total: int | None, chunks: int, burst: float | None) -> bool | None:
    if ttft is None or total is None or burst is None:
        return None
    return chunks == 1 or (ttft >= _BUFFERED_SHARE * total and burst >= _BUFFERED_SHARE)


def _hides_reasoning(deltas: Deltas, usage: Usage) -> bool:
    """Return whether reasoning was billed but not streamed."""
    return bool(usage.reasoning_tokens) and REASONING not in deltas.kinds


def _held_back(
    deltas: Deltas, reads: int, usage: Usage | None, *, asked_stream: bool
) -> bool | None:
    tokens: int | None = len(deltas)
    if usage is not None and usage.completion_tokens is not None:
        # Tokens that were never to be streamed can't be held back.
        hides = _hides_reasoning(deltas, usage)
        tokens = usage.visible_completion_tokens if hides else usage.completion_tokens
    if not asked_stream or tokens is None or tokens < _HELD_BACK_FROM_TOKENS:
        return None
    if not deltas:
        return True
    span = deltas.at_ns[-1] - deltas.at_ns[0]
    return reads <= _HELD_BACK_READS or span <= _HELD_BACK_SPAN_NS


def _coalesced_share(chunks: int, reads: int) -> float | None:
    """Return the share of deltas, of those with one before, that came in the same read as it."""
    return None if chunks < _A_SPAN else (chunks - reads) / (chunks - 1)


def _tpot(deltas: Deltas, usage: Usage | None) -> float | None:
    tokens = usage.completion_tokens if usage else None
    if usage is None or tokens is None or tokens < _A_SPAN or len(deltas) < _A_SPAN:
        return None
    if _hides_reasoning(deltas, usage):
        return None
    return milliseconds(deltas.at_ns[-1] - deltas.at_ns[0]) / (tokens - 1)


def _visible_tpot(content_at: Sequence[int], deltas: Deltas, usage: Usage | None) -> float | None:
    visible = usage.visible_completion_tokens if usage else None
    if visible is None or visible < _A_SPAN or len(content_at) < _A_SPAN or TOOL in deltas.kinds:
        return None
    return milliseconds(content_at[-1] - content_at[0]) / (visible - 1)
