"""Chat completions: the request, and the answer from its body, streamed or not."""

from collections import deque
from collections.abc import Callable
from typing import Any, Final

import msgspec

from bench.model.case import ChatRequest, Message
from bench.stream.deltas import CONTENT, REASONING, TOOL, Deltas
from bench.stream.sse import SseEvent, SseParser
from bench.wire.chat_chunk import Choice, Chunk, Delta, ToolPiece, read_chunk
from bench.wire.faults import excerpt, failure_in, message_of
from bench.wire.protocol import BodyDecoder, Decoded, Fault
from bench.wire.tool_calls import ToolCallAssembly
from bench.wire.usage import merge_usage, read_usage

_DONE: Final = b"[DONE]"
_DONE_BYTES: Final = 16
"""No longer event is looked at for the end mark."""
_KEEP_ALIVE_NAMES: Final = (b"ping", b"heartbeat", b"keepalive", b"keep-alive")
_BOM: Final = b"\xef\xbb\xbf"
_WHOLE_BODY_STARTS: Final = b'{[<"'
_SAMPLE_BYTES: Final = 512
_NOTED_EVENTS: Final = 4


class ChatCompletions:
    """``POST /v1/chat/completions``; source: https://platform.openai.com/docs/api-reference/chat."""

    path: str = "/chat/completions"

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

    def decoder(self, *, stream: bool) -> BodyDecoder:  # noqa: ARG002 - what comes decides
        """Return a decoder for one answer."""
        return ChatDecoder()


def _message(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls is not None:
        fields["tool_calls"] = message.tool_calls
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    return fields


class ChatDecoder:
    """Reads one body; whether it is a stream is told by its first character."""

    def __init__(self) -> None:
        self.saw_done = False
        self._take: Callable[[bytes], None] = self._sniff
        self._lead = b""
        self._sse = SseParser()
        self._whole = bytearray()
        self._sample = b""
        self._noted: deque[bytes] = deque(maxlen=_NOTED_EVENTS)
        self._first_event = b""
        self._at_ns = 0
        self._read = 0
        self._is_json = False
        self._event_count = 0
        self._first_event_ns: int | None = None
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._calls = ToolCallAssembly()
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._fingerprint: str | None = None
        self._usage: Any = None
        self._deltas = Deltas()
        self._fault: Fault | None = None

    def feed(self, at_ns: int, read: int, data: bytes) -> None:
        """Take body bytes; see ``BodyDecoder``."""
        if data:
            self._at_ns = at_ns
            self._read = read
            self._take(data)

    def finish(self) -> Decoded:
        """Say what the body told, an event without its blank line included."""
        if self._is_json:
            self._finish_json(bytes(self._whole))
        else:
            for event in self._sse.flush():
                self._event(event, is_last=True)
            if not self._event_count and not self._sse.comments and self._sample.strip():
                self._fail(Fault(code="invalid_stream_json", message=_not_a_stream(self._sample)))
        return Decoded(
            content="".join(self._content),
            reasoning="".join(self._reasoning),
            tool_calls=self._calls.calls(),
            finish_reason=self._finish_reason,
            response_model=self._model,
            system_fingerprint=self._fingerprint,
            usage=read_usage(self._usage) if self._usage else None,
            deltas=self._deltas,
            first_event_ns=self._first_event_ns,
            event_count=self._event_count,
            is_json=self._is_json,
            fields=self._fields(),
            fault=self._fault,
        )

    # ---- bytes to events ----------------------------------------------------

    def _sniff(self, data: bytes) -> None:
        self._lead += data
        if _BOM.startswith(self._lead):
            return
        start = self._lead.removeprefix(_BOM).lstrip()[:1]
        if not start and len(self._lead) < _SAMPLE_BYTES:
            return
        self._is_json = bool(start) and start in _WHOLE_BODY_STARTS
        self._take = self._whole.extend if self._is_json else self._stream
        self._take(self._lead)

    def _stream(self, data: bytes) -> None:
        if not self._event_count and len(self._sample) < _SAMPLE_BYTES:
            self._sample += data[:_SAMPLE_BYTES]
        for event in self._sse.feed(data):
            self._event(event)

    def _event(self, event: SseEvent, *, is_last: bool = False) -> None:
        if self._first_event_ns is None:
            self._first_event_ns = self._at_ns
        self._event_count += 1
        data = event.data
        if len(data) < _DONE_BYTES and data.strip() == _DONE:
            self.saw_done = True
            return
        try:
            chunk = read_chunk(data)
        except msgspec.DecodeError as error:
            self._not_json(event, error, is_last=is_last)
            return
        if chunk is None:
            return
        if event.name == b"error" or chunk.error is not None or not (chunk.choices or chunk.usage):
            self._examine(data, is_error_event=event.name == b"error")
        self._first_event = self._first_event or data
        self._apply(chunk, data)

    def _not_json(self, event: SseEvent, error: Exception, *, is_last: bool) -> None:
        text = excerpt(event.data.decode("utf-8", "replace"))
        if event.name == b"error":
            self._fail(Fault(code="upstream_stream_error", message=text or "no message"))
        elif text and not is_last and event.name not in _KEEP_ALIVE_NAMES:
            # The last one without its blank line was cut off: the missing finish tells that.
            message = f"an event is not JSON ({error}): {text}"
            self._fail(Fault(code="invalid_stream_json", message=message))

    # ---- events to an answer ------------------------------------------------

    def _apply(self, chunk: Chunk, data: bytes) -> None:
        if chunk.model:
            self._model = chunk.model
        if chunk.system_fingerprint:
            self._fingerprint = chunk.system_fingerprint
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
        if not choice.finish_reason:
            return False
        self._finish_reason = choice.finish_reason
        if choice.finish_reason == "error":
            message = "the finish reason is `error`"
            self._fail(Fault(code="upstream_stream_error", message=message))
        return True

    def _delta(self, delta: Delta) -> None:
        # Gateways that use both spellings of reasoning say the same in both.
        reasoning = delta.reasoning_content or delta.reasoning
        if reasoning:
            self._reasoning.append(reasoning)
            self._note(REASONING, len(reasoning))
        if delta.content:
            self._content.append(delta.content)
            self._note(CONTENT, len(delta.content))
        if delta.tool_calls:
            sizes = [self._tool_piece(piece) for piece in delta.tool_calls]
            if any(size is not None for size in sizes):
                self._note(TOOL, sum(size or 0 for size in sizes))

    def _tool_piece(self, piece: ToolPiece) -> int | None:
        """Add one piece; return its characters, ``None`` when there is nothing in it."""
        name = (piece.function and piece.function.name) or ""
        arguments = (piece.function and piece.function.arguments) or ""
        if not (piece.id or name or arguments):
            return None
        self._calls.add(index=piece.index, id_=piece.id, name=name, arguments=arguments)
        return len(name) + len(arguments)

    def _note(self, kind: int, characters: int) -> None:
        if not self._is_json:
            self._deltas.append(self._at_ns, self._read, kind, characters)

    # ---- what went wrong, and what else was said ------------------------------

    def _finish_json(self, body: bytes) -> None:
        body = body.removeprefix(_BOM)
        try:
            chunk = read_chunk(body)
        except msgspec.DecodeError:
            chunk = None
        if chunk is None:
            self._fail(Fault(code="invalid_stream_json", message=_not_a_stream(body)))
            return
        if chunk.error is not None or not chunk.choices:
            self._examine(body, is_error_event=False)
        self._apply(chunk, body)

    def _examine(self, data: bytes, *, is_error_event: bool) -> None:
        fields = msgspec.json.decode(data)
        message = failure_in(fields, is_error_event=is_error_event)
        if message is not None or is_error_event:
            self._fail(Fault(code="upstream_stream_error", message=message or "no message"))

    def _fail(self, fault: Fault) -> None:
        self._fault = self._fault or fault

    def _fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for data in (self._first_event, *self._noted):
            if data:
                said = msgspec.json.decode(data)
                fields.update((key, value) for key, value in said.items() if value is not None)
        fields.pop("choices", None)
        if self._usage:
            fields["usage"] = self._usage
        return fields


def _not_a_stream(body: bytes) -> str:
    return f"neither a stream nor a JSON answer: {message_of(body) or 'no text'}"
