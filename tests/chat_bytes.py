"""Bodies of chat completions for tests, and the decoder that reads them."""

import json
from typing import Any

from bench.stream.deltas import Read
from bench.wire import PROTOCOLS
from bench.wire.protocol import Decoded


def decode(*pieces: bytes) -> Decoded:
    """Read a body in these pieces, one read each, stamped from 100 on."""
    decoder = PROTOCOLS["chat"].decoder(stream=True)
    for read, piece in enumerate(pieces):
        decoder.feed(Read(100 + read, read, piece))
    return decoder.finish()


def sse(*chunks: object, done: bool = True) -> bytes:
    """Return a stream of JSON events."""
    events = b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks)
    return events + (b"data: [DONE]\n\n" if done else b"")


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return one event with a delta of these fields."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def piece(name: str | None = None, arguments: Any = None, **rest: Any) -> dict[str, Any]:
    """Return one piece of a tool call."""
    return {**rest, "function": {"name": name, "arguments": arguments}}
