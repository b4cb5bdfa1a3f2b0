"""OpenAI Responses: the request. Source: https://platform.openai.com/docs/api-reference/responses.

Nothing is stored at the provider (``store: false``): a conversation is repeated in each request, as
in the other protocols, and what a model needs of its own reasoning travels encrypted.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from bench.model.case import ChatRequest, Message
from bench.wire.body import AnswerDecoder
from bench.wire.protocol import BodyDecoder
from bench.wire.responses_reader import ResponsesReader
from bench.wire.tool_shapes import call_shape, flat_tool, forced_name

ENCRYPTED = "reasoning.encrypted_content"
_Item = dict[str, Any]


class Responses:
    """``POST /v1/responses``."""

    path: str = "/responses"
    headers: tuple[tuple[str, str], ...] = ()
    key_header_hosts: Mapping[str, str] = MappingProxyType({})

    def encode(self, request: ChatRequest, *, model: str, stream: bool) -> bytes:
        """Return the request body; see docs/wire.md for what becomes what."""
        body: dict[str, Any] = {"store": False, **request.extra}
        body["model"] = model
        first, *others = request.messages or (None,)
        if first is not None and first.role in {"system", "developer"} and first.content:
            body["instructions"] = first.content
        elif first is not None:
            others = [first, *others]
        body["input"] = [item for message in others for item in _items(message)]
        body["stream"] = stream
        if request.max_tokens is not None:
            body["max_output_tokens"] = request.max_tokens
        if request.temperature is not None:
            body["temperature"] = request.temperature
        body.update(_reasoning(request))
        if request.tools is not None:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = _choice(request.tool_choice)
        return msgspec.json.encode(body)

    def output_limit(self, request: ChatRequest) -> int | None:
        """Return the limit as it is asked for: reasoning counts against it."""
        return request.max_tokens

    def decoder(self, *, stream: bool) -> BodyDecoder:  # noqa: ARG002 - what comes decides
        """Return a decoder for one answer."""
        return AnswerDecoder(ResponsesReader)


def _reasoning(request: ChatRequest) -> dict[str, Any]:
    effort = request.reasoning_effort
    fields: dict[str, Any] = {} if effort is None else {"reasoning": {"effort": effort}}
    is_reasoning = effort not in {None, "none"} or any(m.opaque for m in request.messages)
    # Models that don't reason refuse the question for it.
    return {**fields, "include": [ENCRYPTED]} if is_reasoning and request.tools else fields


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    flat = flat_tool(tool, schema="parameters")
    function = tool.get("function")
    if not isinstance(function, Mapping):
        return flat
    # Left out it would be true here, and false in chat completions.
    return {"type": "function", **flat, "strict": function.get("strict", False)}


def _choice(choice: object) -> object:
    name = forced_name(choice)
    return choice if name is None else {"type": "function", "name": name}


def _items(message: Message) -> Iterator[_Item]:
    match message.role:
        case "tool":
            yield {
                "type": "function_call_output",
                "call_id": message.tool_call_id or "",
                "output": message.content or "",
            }
        case "assistant":
            yield from _said(message)
        case role:
            yield {"role": role, "content": message.content or ""}


def _said(message: Message) -> Iterator[_Item]:
    """Yield an assistant's items: the provider's own in their order, the others in their places."""
    texts = [_text(message.content)] if message.content else []
    calls = [_call(call) for call in message.tool_calls or ()]
    for part in message.opaque:
        match part.get("type"):
            case "message":
                yield from ({**part, **text} for text in texts)
                texts = []
            case "function_call":
                yield from ({**part, **call} for call in calls[:1])
                calls = calls[1:]
            case _:
                yield part
    yield from texts
    yield from calls


def _text(text: str) -> _Item:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }


def _call(call: Mapping[str, Any]) -> _Item:
    shape = call_shape(call)
    return {
        "type": "function_call",
        "call_id": shape.id,
        "name": shape.name,
        "arguments": shape.arguments,
    }
