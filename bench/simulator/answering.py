"""One answer made ready for sending: stream, JSON body or error, with its headers. Pure."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from bench.simulator.answers import BookEntry, Reply, draw, share
from bench.simulator.chat import ChatBody, prompt_tokens
from bench.simulator.compose import compose
from bench.simulator.events import Tail
from bench.simulator.exchange import Exchange, RequestRecord
from bench.simulator.providers import Route
from bench.simulator.scenario import Scenario
from bench.simulator.spoken import Api, Head
from bench.simulator.timeline import (
    Clock,
    Event,
    Write,
    grouped,
    gzipped,
    stream_events,
)

Asked = tuple[Api, ChatBody]
"""The protocol of a request, and what it asks."""

_JSON = ("content-type", "application/json")
_HTML = ("content-type", "text/html; charset=utf-8")
_STREAM = (
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache"),
)
_TOO_MANY = 429


def fixed(
    record: RequestRecord, status: int, body: bytes, headers: list[tuple[str, str]]
) -> Exchange:
    """Return a JSON answer that goes out at once."""
    record.status = status
    return Exchange(
        record=record,
        status=status,
        headers=[_JSON, *headers],
        writes=iter((Write(0, body, ()),)),
        length=len(body),
    )


def fails(scenario: Scenario, draws: tuple[object, ...]) -> bool:
    """Return whether this prompt is among those that the provider fails on."""
    if scenario.failing_percent == 0:
        return False
    return share("failing", *draws) * 100 < scenario.failing_percent


def failure(
    record: RequestRecord, scenario: Scenario, status: int, message: str, *, api: Api
) -> Exchange:
    """Return an error answer in the form the scenario asks for, after its time to first token."""
    body = api.error(f"simulated_{status}", message, status=status)
    exchange = fixed(record, status, body, [])
    if scenario.html:
        body = f"<html><head><title>{status}</title></head><body>{message}</body></html>".encode()
        exchange.headers = [_HTML]
    wait_s = scenario.retry_after_s if scenario.retry_after_s is not None else 1
    if status == _TOO_MANY or scenario.retry_after_s is not None:
        exchange.headers.append(("retry-after", str(wait_s)))
    exchange.writes = iter((Write(scenario.ttft_ns, body, ()),))
    exchange.length = len(body)
    return exchange


def answer(
    record: RequestRecord,
    asked: Asked,
    route: Route,
    scenario: Scenario,
    *,
    entry: BookEntry | None,
    clock: tuple[int, int],
) -> Exchange:
    """Return the answer to a request.

    Args:
        record: Gets what is planned; its provider answers.
        asked: The request.
        route: Whose prices count and which model answers.
        scenario: How it is answered.
        entry: The book's entry for the prompt.
        clock: Seed, and unix seconds now.
    """
    seed, created = clock
    api, chat = asked
    if record.cache_hit:
        scenario = replace(scenario, ttft_ns=0, itl_ns=0, jitter_ns=0, pause_at=None)
    provider, prompt = record.provider or route.provider, record.prompt_hash or ""
    reply = compose(
        scenario,
        chat,
        entry,
        provider=provider,
        usual_tokens=route.usual_tokens,
        draws=(seed, prompt),
    )
    record.status, record.from_book = 200, entry is not None
    record.prompt_tokens, record.planned_tokens = prompt_tokens(chat.messages), reply.tokens
    usage = _usage(record, route, scenario, reply)
    tail = Tail(
        scenario.finish_reason or reply.finish_reason,
        usage,
        {"metadata": _metadata(record, route, chat)},
        chat.wants_usage,
    )
    headers = _served_headers(record, route)
    head = Head(
        number=record.x_request_id, created=created, model=route.model, chat=chat, tail=tail
    )
    if chat.stream and not scenario.as_json:
        writer = api.writer(scenario, head)
        events = stream_events(
            scenario, reply, writer, tail=tail, seed=draw("jitter", seed, provider, prompt)
        )
        return _streamed(record, scenario, events, headers)
    body = _json_body(scenario, reply, api, head)
    return _whole(record, scenario, reply, usage=tail.usage, headers=headers, body=body)


def _streamed(
    record: RequestRecord,
    scenario: Scenario,
    events: Iterator[Event],
    headers: list[tuple[str, str]],
) -> Exchange:
    writes = grouped(scenario, events)
    if scenario.gzip:
        writes, headers = gzipped(writes), [*headers, ("content-encoding", "gzip")]
    return Exchange(
        record=record,
        status=200,
        headers=[*_STREAM, *headers],
        writes=writes,
        headers_ns=scenario.headers_ns,
        late_headers=scenario.late_headers,
        linger_ns=scenario.linger_ns,
        end=scenario.end,
        hang=scenario.hang,
        reset_first=scenario.end == "reset" and scenario.end_at is None,
    )


def _whole(
    record: RequestRecord,
    scenario: Scenario,
    reply: Reply,
    *,
    usage: dict[str, Any],
    headers: list[tuple[str, str]],
    body: bytes,
) -> Exchange:
    """Return the answer as one JSON body, due when its last token would be."""
    if scenario.gzip:
        body, headers = gzip.compress(body, mtime=0), [*headers, ("content-encoding", "gzip")]
    due = Clock(scenario, seed=0).due_ns(max(0, reply.tokens - 1))
    text = "".join(reply.content)
    sent = body
    events: tuple[Event, ...] = (Event(due, "content", len(text), b"", reply.tokens),)
    if scenario.end in {"cut", "eof", "reset", "stall"}:
        sent, events = body[: len(body) // 2], ()
    cost = [("x-cost-usd", repr(usage["cost"]))] if scenario.usage != "never" else []
    return Exchange(
        record=record,
        status=200,
        headers=[_JSON, *headers, *cost],
        writes=iter((Write(due, sent, events),)),
        length=len(body),
        headers_ns=scenario.headers_ns,
        late_headers=scenario.headers_ns == 0,
        end=scenario.end,
        hang=scenario.hang,
        reset_first=scenario.end == "reset" and scenario.end_at is None,
    )


def _json_body(scenario: Scenario, reply: Reply, api: Api, head: Head) -> bytes:
    if scenario.end == "error":
        return api.error("simulated", "simulated upstream error", status=500)
    data = msgspec.json.encode(api.whole(scenario, head, reply))
    return data[: len(data) * 2 // 3] if scenario.bad_json_at is not None else data


def _usage(record: RequestRecord, route: Route, scenario: Scenario, reply: Reply) -> dict[str, Any]:
    prompt, completion = record.prompt_tokens or 0, reply.tokens
    offer = route.offer
    cost = prompt * offer.prompt_usd + completion * offer.completion_usd + offer.request_usd
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {
            "cached_tokens": int(prompt * scenario.cached_prompt_percent / 100)
        },
        "completion_tokens_details": {"reasoning_tokens": len(reply.reasoning)},
        "cost": 0.0 if record.cache_hit else cost,
    }


def _served_headers(record: RequestRecord, route: Route) -> list[tuple[str, str]]:
    provider, model = _printable(record.provider or ""), _printable(route.model)
    headers = [("x-served-provider", provider), ("x-served-model", model)]
    if route.region is not None:
        headers.append(("x-served-region", _printable(route.region)))
    if record.cache_hit is not None:
        headers.append(("x-cache", "HIT" if record.cache_hit else "MISS"))
    if record.fallback:
        headers.append(("x-fallback", "true"))
    return headers


def _printable(text: str) -> str:
    """Return ``text`` without what would break out of a header: names come from the client."""
    return "".join(character for character in text if character.isprintable())


def _metadata(record: RequestRecord, route: Route, chat: ChatBody) -> dict[str, Any]:
    return {
        "requested_model": chat.model,
        "requested_provider": chat.model.rpartition("/")[0] or None,
        "used_model": route.model,
        "used_provider": record.provider,
        "used_region": route.region,
        "cached": bool(record.cache_hit),
        "fallback": bool(record.fallback),
        "simulated": True,
    }
