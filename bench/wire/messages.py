"""Anthropic Messages: the request. Source: https://docs.anthropic.com/en/api/messages."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from bench.model.case import ChatRequest, Message
from bench.wire.body import AnswerDecoder
from bench.wire.messages_reader import MessagesReader
from bench.wire.protocol import BodyDecoder
from bench.wire.tool_shapes import call_shape, flat_tool, forced_name

VERSION = "2023-06-01"
LEAST_BUDGET = 1024
THINKING_BUDGETS: Mapping[str, int] = MappingProxyType(
    {
        "minimal": LEAST_BUDGET,
        "low": 1024,
        "medium": 2048,
        "high": 4096,
        "xhigh": 8192,
    }
)
"""Reasoning effort → thinking tokens: LiteLLM's numbers, so that one effort asks a model for the
same whether it comes through chat completions or here; nothing below Anthropic's least."""
USUAL_LIMIT = 4096
"""Tokens of an answer whose request has no limit: the protocol demands one."""
_CHOICES: Mapping[str, str] = MappingProxyType(
    {"auto": "auto", "required": "any", "any": "any", "none": "none"}
)
_Block = dict[str, Any]


class Messages:
    """``POST /v1/messages``."""

    path: str = "/messages"
    headers: tuple[tuple[str, str], ...] = (("anthropic-version", VERSION),)
    key_header_hosts: Mapping[str, str] = MappingProxyType({"anthropic.com": "x-api-key"})

    def encode(self, request: ChatRequest, *, model: str, stream: bool) -> bytes:
        """Return the request body; see docs/wire.md for what becomes what."""
        body: dict[str, Any] = dict(request.extra)
        body["model"] = model
        system = [m.content for m in request.messages if _is_system(m) and m.content]
        if system:
            body["system"] = system[0] if len(system) == 1 else [_text(text) for text in system]
        body["messages"] = list(_turns(request.messages))
        body["max_tokens"] = self.output_limit(request)
        body["stream"] = stream
        thinking = _thinking(request)
        body.update(thinking)
        if request.temperature is not None and not thinking:
            # With thinking only 1 is allowed, which is the default.
            body["temperature"] = request.temperature
        if request.tools is not None:
            body["tools"] = [flat_tool(tool, schema="input_schema") for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = _choice(request.tool_choice)
        return msgspec.json.encode(body)

    def output_limit(self, request: ChatRequest) -> int:
        """Return the limit with the thinking budget on top: it counts against the same number."""
        limit = request.max_tokens if request.max_tokens is not None else USUAL_LIMIT
        thinking = _thinking(request).get("thinking", {})
        return limit + int(thinking.get("budget_tokens", 0))

    def decoder(self, *, stream: bool) -> BodyDecoder:  # noqa: ARG002 - what comes decides
        """Return a decoder for one answer."""
        return AnswerDecoder(MessagesReader)


def _is_system(message: Message) -> bool:
    return message.role in {"system", "developer"}


def _thinking(request: ChatRequest) -> dict[str, Any]:
    """Return the fields that ask for thinking; none where a tool is forced: both are refused."""
    effort = request.reasoning_effort
    if effort in {None, "none"} or _choice(request.tool_choice).get("type") in {"any", "tool"}:
        return {}
    budget = THINKING_BUDGETS.get(effort or "")
    if budget is None:
        # A word of Anthropic's own (`max`): newer models take it, others say what they take.
        return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _choice(choice: object) -> dict[str, Any]:
    name = forced_name(choice)
    if name is not None:
        return {"type": "tool", "name": name}
    if isinstance(choice, Mapping):
        return dict(choice)
    return {"type": _CHOICES.get(str(choice), str(choice))} if choice is not None else {}


def _turns(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Yield the messages without the system's; results of tools that follow each other share one."""
    results: list[_Block] = []
    for message in messages:
        if message.role == "tool":
            results.append(_result(message))
            continue
        if results:
            yield {"role": "user", "content": results}
            results = []
        if message.role == "user":
            yield {"role": "user", "content": message.content or ""}
        elif message.role == "assistant" and (blocks := list(_said(message))):
            yield {"role": "assistant", "content": blocks}
    if results:
        yield {"role": "user", "content": results}


def _result(message: Message) -> _Block:
    return {
        "type": "tool_result",
        "tool_use_id": message.tool_call_id or "",
        "content": message.content or "",
    }


def _said(message: Message) -> Iterator[_Block]:
    """Yield an assistant's blocks: the provider's own in their order, the others in their places."""
    texts = [_text(message.content)] if message.content else []
    uses = [_use(call) for call in message.tool_calls or ()]
    for part in message.opaque:
        match part.get("type"):
            case "text":
                yield from texts
                texts = []
            case "tool_use":
                yield from uses[:1]
                uses = uses[1:]
            case _:
                yield part
    yield from texts
    yield from uses


def _use(call: Mapping[str, Any]) -> _Block:
    shape = call_shape(call)
    return {
        "type": "tool_use",
        "id": shape.id,
        "name": shape.name,
        "input": shape.arguments_object(),
    }


def _text(text: str) -> _Block:
    return {"type": "text", "text": text}
