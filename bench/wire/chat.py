"""Chat completions: the request, and the answer from its body, streamed or not."""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

import msgspec

from bench.model.case import ChatRequest, Message
from bench.stream.sse import SseEvent
from bench.wire.body import AnswerDecoder, Rest
from bench.wire.chat_chunk import (
    Choice,
    Chunk,
    Delta,
    ToolPiece,
    plain_contents,
    read_chunk,
)
from bench.wire.chat_reasoning import ReasoningParts, put_back
from bench.wire.draft import Draft
from bench.wire.nesting import is_too_deep
from bench.wire.protocol import BodyDecoder
from bench.wire.usage import merge_usage, read_usage

_NOTED_EVENTS: Final = 4


class ChatCompletions:
    """``POST /v1/chat/completions``; source: https://platform.openai.com/docs/api-reference/chat."""

    path: str = "/chat/completions"
    headers: tuple[tuple[str, str], ...] = ()
    key_header_hosts: Mapping[str, str] = MappingProxyType({})

    def encode(self, request: ChatRequest, *, model: str, stream: bool) -> bytes:
        """Return the request body; a field that is ``None`` is left out."""
        body: dict[str, Any] = dict(request.extra)
        body["model"] = model
        body["messages"] = [_message(message) for message in request.messages]
        body["stream"] = stream
        if stream:
            body["stream_options"] = {"include_usage": True}
        for name in ("max_tokens", "temperature", "reasoning_effort", "tools", "tool_choice"):
            value = getattr(request, name)
            if value is not None:
                body[name] = value
        return msgspec.json.encode(body)

    def output_limit(self, request: ChatRequest) -> int | None:
        """Return the limit as it is asked for."""
        return request.max_tokens

    def decoder(self, *, stream: bool) -> BodyDecoder:  # noqa: ARG002 - what comes decides
        """Return a decoder for one answer."""
        return AnswerDecoder(ChatReader)


def _message(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls is not None:
        fields["tool_calls"] = message.tool_calls
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    if message.opaque:
        put_back(fields, message.opaque)
    return fields


class ChatReader:
    """What the events of chat completions mean."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._noted: deque[bytes] = deque(maxlen=_NOTED_EVENTS)
        self._first_event = b""
        self._usage: Any = None
        self._metadata: dict[str, Any] = {}
        self._parts = ReasoningParts()

    def event(self, event: SseEvent) -> None:
        """Take one event; see ``Reader``."""
        chunk = read_chunk(event.data)
        if chunk is not None:
            self._read(chunk, event.data, is_error_event=event.name == b"error")

    def pieces(self, events: Sequence[bytes]) -> list[str] | None:
        """Take pieces of content together; see ``Reader``."""
        read = plain_contents(events)
        if read is None:
            return None
        contents, told = read
        draft = self._draft
        draft.model = told.model or draft.model
        draft.fingerprint = told.system_fingerprint or draft.fingerprint
        self._first_event = self._first_event or events[0]
        return contents

    def _read(self, chunk: Chunk, data: bytes, *, is_error_event: bool) -> None:
        if is_error_event or chunk.error is not None or not (chunk.choices or chunk.usage):
            self._draft.examine(data, is_error_event=is_error_event)
        self._first_event = self._first_event or data
        self._apply(chunk, data)

    def whole(self, body: bytes) -> None:
        """Take an answer in one piece; see ``Reader``."""
        chunk = read_chunk(body)
        if chunk is None:
            raise msgspec.DecodeError("no object")
        if chunk.error is not None or not chunk.choices:
            self._draft.examine(body, is_error_event=False)
        self._apply(chunk, body)

    def rest(self) -> Rest:
        """Return usage, fields, and the reasoning to repeat."""
        draft = self._draft
        # Without tool calls nobody demands reasoning back, and some refuse it.
        is_calling = bool(draft.calls.calls())
        return Rest(
            usage=read_usage(self._usage) if self._usage else None,
            fields=self._fields(),
            opaque=self._parts.parts("".join(draft.reasoning)) if is_calling else (),
        )

    def _apply(self, chunk: Chunk, data: bytes) -> None:
        if chunk.model:
            self._draft.model = chunk.model
        if chunk.system_fingerprint:
            self._draft.fingerprint = chunk.system_fingerprint
        if chunk.usage:
            self._usage = merge_usage(self._usage, chunk.usage)
        is_notable = not chunk.choices or bool(chunk.usage)
        for choice in chunk.choices or ():
            if not choice.index:
                is_notable |= self._choice(choice)
        if is_notable:
            self._noted.append(data)

    def _choice(self, choice: Choice) -> bool:
        """Take the first choice; return whether it ends the answer."""
        delta = choice.delta or choice.message
        if delta is not None:
            self._delta(delta)
        reason = choice.finish_reason
        if not reason:
            return False
        self._draft.end(reason, reason)
        if reason == "error":
            self._draft.upstream_failed("the finish reason is `error`")
        return True

    def _delta(self, delta: Delta) -> None:
        # Gateways that use both spellings of reasoning say the same in both.
        reasoning = delta.reasoning_content or delta.reasoning
        if reasoning:
            self._parts.spelled("reasoning_content" if delta.reasoning_content else "reasoning")
            self._draft.add_reasoning(reasoning)
        for detail in delta.reasoning_details or ():
            self._parts.detail(detail)
        if delta.content:
            self._draft.add_content(delta.content)
        if isinstance(delta.provider_metadata, dict):
            self._metadata.update(delta.provider_metadata)
        if delta.tool_calls:
            sizes = [self._tool_piece(piece) for piece in delta.tool_calls]
            if any(size is not None for size in sizes):
                self._draft.note_tool(sum(size or 0 for size in sizes))

    def _tool_piece(self, piece: ToolPiece) -> int | None:
        """Add one piece; return its characters, ``None`` when there is nothing in it."""
        name = (piece.function and piece.function.name) or ""
        arguments = (piece.function and piece.function.arguments) or ""
        if piece.extra_content is not None:
            self._parts.beside_call(piece.index or 0, piece.extra_content)
        if not (piece.id or name or arguments):
            return None
        self._draft.calls.add(index=piece.index, id_=piece.id, name=name, arguments=arguments)
        return len(name) + len(arguments)

    def _fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for data in (self._first_event, *self._noted):
            if data and not is_too_deep(data):
                # Fields that nobody reads were not looked at yet: they may hold what is no JSON.
                with suppress(msgspec.DecodeError):
                    said = msgspec.json.decode(data)
                    fields.update({key: value for key, value in said.items() if value is not None})
        fields.pop("choices", None)
        if self._metadata:
            fields.setdefault("provider_metadata", self._metadata)
        if self._usage:
            fields["usage"] = self._usage
        return fields
