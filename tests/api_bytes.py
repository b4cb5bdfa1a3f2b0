"""Bodies of messages and responses for tests, their decoder, and a conversation with tools."""

import json
from typing import Any

from bench.model.case import ChatRequest, Message
from bench.stream.deltas import Read
from bench.wire import PROTOCOLS
from bench.wire.protocol import Decoded

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}
SCHEMA = TOOL["function"]["parameters"]


def decode(api: str, *pieces: bytes) -> Decoded:
    """Read a body in these pieces, one read each, stamped from 100 on."""
    decoder = PROTOCOLS[api].decoder(stream=True)
    for read, piece in enumerate(pieces):
        decoder.feed(Read(100 + read, read, piece))
    return decoder.finish()


def sse(*events: dict[str, Any]) -> bytes:
    """Return a stream of named events, as both protocols send them."""
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (str(event["type"]).encode(), json.dumps(event).encode())
        for event in events
    )


def encoded(api: str, request: ChatRequest, *, stream: bool = True) -> dict[str, Any]:
    """Return a request body as an object."""
    body: dict[str, Any] = json.loads(PROTOCOLS[api].encode(request, model="p/m", stream=stream))
    return body


def called(id_: str, arguments: str = '{"path":"a"}', name: str = "look") -> dict[str, Any]:
    """Return a tool call as an assistant's message repeats it."""
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def user(text: str = "hi") -> Message:
    return Message(role="user", content=text)
