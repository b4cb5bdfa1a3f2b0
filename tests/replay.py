"""Plays bytes into an exchange without a network, and compares a response with a truth."""

from collections.abc import Iterable
from datetime import UTC, datetime

from bench.client.exchange import Exchange, Limits, Phases
from bench.client.masking import Mask
from bench.client.verdict import Circumstances, respond
from bench.dialects import DIALECTS
from bench.model.trial import Response
from bench.wire import PROTOCOLS
from tests.recorded_streams import Truth

NEVER_NS = 10**15
MS = 1_000_000


def exchange(
    *, api: str = "chat", deadline_ns: int = NEVER_NS, idle_ns: int = NEVER_NS
) -> Exchange:
    """Return a fresh exchange in a wire protocol, sent at 0."""
    fresh = Exchange(
        PROTOCOLS[api].decoder(stream=True), Limits(deadline_ns=deadline_ns, idle_ns=idle_ns)
    )
    fresh.sent_ns = 0
    return fresh


def circumstances(**changes: object) -> Circumstances:
    """Return the usual circumstances of a streamed request at time 0."""
    usual: dict[str, object] = {
        "t0_ns": 0,
        "phases": Phases(),
        "lag_ns": None,
        "connection": "cold",
        "local_port": 1,
        "asked_stream": True,
        "dialect": DIALECTS["plain"],
        "mask": Mask(()),
        "utcnow": datetime(2026, 1, 1, tzinfo=UTC),
    }
    return Circumstances(**(usual | changes))  # type: ignore[arg-type]


def replay(
    reads: Iterable[tuple[int, bytes]], *, api: str = "chat", eof_ns: int | None = None
) -> Response:
    """Return the response to these reads; ``eof_ns`` = when the other side closed."""
    state = exchange(api=api)
    last = 0
    for at_ns, data in reads:
        state.receive(at_ns, data)
        last = at_ns
    state.eof(last if eof_ns is None else eof_ns)
    return respond(state, circumstances())


def pieces(raw: bytes, size: int) -> list[tuple[int, bytes]]:
    """Return ``raw`` in reads of ``size`` bytes, one per nanosecond."""
    return [(at, raw[at : at + size]) for at in range(0, len(raw), size)]


def seen(response: Response) -> dict[str, object]:
    """Return what does not depend on how the bytes were cut."""
    return {
        "status": response.status,
        "content": response.content,
        "reasoning": response.reasoning,
        "tools": response.tool_calls,
        "finish": (response.finish_reason, response.provider_finish_reason),
        "opaque": response.opaque,
        "model": response.response_model,
        "fingerprint": response.system_fingerprint,
        "request": response.request_id,
        "usage": response.usage,
        "error": response.error,
        "chunks": [(chunk.kind, chunk.characters) for chunk in response.stream_chunks],
    }


def assert_true(response: Response, truth: Truth) -> None:
    """Compare a response with what the bytes allow to be known."""
    error = response.error
    usage = response.usage
    assert response.status == truth.status
    if truth.content is not None:
        assert response.content == truth.content
    assert response.reasoning == truth.reasoning
    assert tuple((c.id, c.name, c.arguments) for c in response.tool_calls) == truth.tools
    assert response.finish_reason == truth.finish
    assert (error.code if error else None) == truth.error, error
    assert (error.seed_code if error else None) == truth.seed
    assert (error.retry_after_ms if error else None) == truth.retry_after_ms
    assert (
        usage
        and (
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.reasoning_tokens,
            usage.cached_prompt_tokens,
        )
    ) == truth.usage
    assert len(response.stream_chunks) == truth.chunks
    assert (response.timing.first_token_ms is None) == (truth.chunks == 0)
