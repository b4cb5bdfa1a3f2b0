"""Anthropic Messages: the answer, streamed or whole.

Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from bench.model.trial import Usage
from bench.stream.sse import SseEvent
from bench.wire.body import Rest
from bench.wire.draft import Draft
from bench.wire.faults import failure_in
from bench.wire.protocol import Fault
from bench.wire.usage import cost_usd, count, hour_writes, inside, visible

FINISH_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
        "refusal": "content_filter",
    }
)
"""Stop reason → word of chat completions; any other stays as it is."""
_PLACES = ("text", "tool_use")
"""Blocks that a message can say itself: among opaque parts they are empty places."""
_OWN_FIELDS = ("content", "type", "role", "stop_reason", "stop_sequence")


class BlockDelta(msgspec.Struct, gc=False):
    """``delta`` of a block or of the message."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class Event(msgspec.Struct, gc=False):
    """The fields that count of one event."""

    type: str | None = None
    index: int | None = None
    delta: BlockDelta | None = None
    content_block: dict[str, Any] | None = None
    message: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


_STRICT = msgspec.json.Decoder(Event)


class MessagesReader:
    """What the events of Messages mean."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._blocks: dict[int, dict[str, Any]] = {}
        """By index: blocks as they will be repeated, pieces put together."""
        self._given: dict[int, str] = {}
        """Tool input that stood in the start of its block."""
        self._fields: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._is_counted = False
        """The counts are those of the end: those of the start say nothing of the answer."""

    def event(self, event: SseEvent) -> None:
        """Take one event; see ``Reader``."""
        try:
            said = _STRICT.decode(event.data)
        except msgspec.ValidationError:
            said = _lenient(msgspec.json.decode(event.data))
        if said.type == "content_block_delta" and said.delta is not None:
            self._delta(said.index or 0, said.delta)
            return
        if said.type == "error" or said.error is not None or event.name == b"error":
            self._draft.examine(event.data, is_error_event=True)
            return
        self._structure(said, event.data)

    def pieces(self, events: Sequence[bytes]) -> list[str] | None:  # noqa: ARG002 - the protocol's
        """Take nothing: these events have names."""
        return None

    def whole(self, body: bytes) -> None:
        """Take an answer in one piece; see ``Reader``."""
        fields = msgspec.json.decode(body)
        if not isinstance(fields, dict):
            raise msgspec.DecodeError("no object")
        message = failure_in(fields)
        if message is not None:
            self._draft.upstream_failed(message)
        elif not isinstance(fields.get("content"), list):
            self._strange(fields)
        self._message(fields)
        self._is_counted = True
        self._stop(_text(fields.get("stop_reason")))

    def rest(self) -> Rest:
        """Return usage, fields, and the blocks to repeat."""
        for index, given in self._given.items():
            self._draft.calls.add(index=index, id_=None, name="", arguments=given)
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        if self._usage:
            self._fields["usage"] = self._usage
        hides = any(block.get("type") not in _PLACES for block in blocks)
        return Rest(
            usage=read_usage(self._usage, has_thinking=hides) if self._is_counted else None,
            fields=self._fields,
            opaque=tuple(blocks) if hides else (),
        )

    # ---- the message and its blocks -------------------------------------------

    def _structure(self, said: Event, data: bytes) -> None:
        match said.type:
            case "message_start":
                self._message(said.message or {})
            case "content_block_start":
                self._block(said.index or 0, said.content_block or {})
            case "message_delta":
                self._count(said.usage)
                self._is_counted |= bool(said.usage)
                self._stop(said.delta.stop_reason if said.delta else None)
            case "message_stop":
                self._draft.done()
            case None:
                self._strange(msgspec.json.decode(data))
            case _:  # ping, content_block_stop, and what is still to come
                pass

    def _message(self, fields: Mapping[str, Any]) -> None:
        draft = self._draft
        draft.model = _text(fields.get("model")) or draft.model
        draft.fingerprint = _text(fields.get("system_fingerprint")) or draft.fingerprint
        self._count(fields.get("usage"))
        self._fields.update(
            (key, value)
            for key, value in fields.items()
            if key not in _OWN_FIELDS and value is not None
        )
        content = fields.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                self._block(index, block)

    def _block(self, index: int, block: Mapping[str, Any]) -> None:
        draft, kind = self._draft, block.get("type")
        if kind == "text":
            self._blocks[index] = {"type": "text"}
            draft.add_content(_text(block.get("text")) or "")
        elif kind == "tool_use":
            self._blocks[index] = {"type": "tool_use"}
            name, id_ = _text(block.get("name")) or "", _text(block.get("id"))
            draft.calls.add(index=index, id_=id_, name=name, arguments="")
            given = block.get("input")
            text = msgspec.json.encode(given).decode() if given else ""
            # Beside an input in pieces it would be the same once more: kept until the end.
            self._given[index] = text or "{}"
            draft.note_tool(len(name) + len(text))
        else:
            self._blocks[index] = dict(block)
            if kind == "thinking":
                draft.add_reasoning(_text(block.get("thinking")) or "")

    def _delta(self, index: int, delta: BlockDelta) -> None:
        draft = self._draft
        match delta.type:
            case "text_delta":
                draft.add_content(delta.text or "")
            case "input_json_delta" if delta.partial_json:
                self._given.pop(index, None)
                draft.calls.add(index=index, id_=None, name="", arguments=delta.partial_json)
                draft.note_tool(len(delta.partial_json))
            case "thinking_delta":
                self._extend(index, "thinking", delta.thinking)
                draft.add_reasoning(delta.thinking or "")
            case "signature_delta":
                self._extend(index, "signature", delta.signature)
            case _:  # citations, and what is still to come
                pass

    def _extend(self, index: int, field: str, piece: str | None) -> None:
        block = self._blocks.setdefault(index, {"type": "thinking", "thinking": ""})
        block[field] = (_text(block.get(field)) or "") + (piece or "")

    # ---- counts, end, and what is none of ours ---------------------------------

    def _count(self, usage: object) -> None:
        """Take counts: they grow, and a gateway may tell them early, late or as 0 in between."""
        if isinstance(usage, Mapping):
            known = self._usage
            known.update((key, told) for key, told in usage.items() if told or not known.get(key))

    def _stop(self, reason: str | None) -> None:
        if reason:
            self._draft.end(reason, FINISH_REASONS.get(reason, reason))

    def _strange(self, fields: object) -> None:
        """Take what has none of the protocol's shapes: a failure, or another protocol."""
        if not isinstance(fields, dict):
            return
        message = failure_in(fields)
        if message is not None:
            self._draft.upstream_failed(message)
        elif fields.get("choices") or fields.get("output"):
            other = "chat completions" if "choices" in fields else "responses"
            message = f"the answer has the shape of {other}, not of messages"
            self._draft.fail(Fault(code="invalid_stream_json", message=message))


def read_usage(raw: Mapping[str, Any], *, has_thinking: bool) -> Usage | None:
    """Return the counts in a ``usage`` object, ``None`` when it holds none.

    ``input_tokens`` leaves out what was read from or written to the prompt cache; here both are
    in the prompt, as everywhere else.

    Args:
        raw: As it came, put together over the events.
        has_thinking: There were thinking blocks. Where nobody says how many tokens they are, the
            visible ones are unknown.
    """
    fresh, completion = count(raw.get("input_tokens")), count(raw.get("output_tokens"))
    if fresh is None and completion is None:
        return None
    cached = count(raw.get("cache_read_input_tokens"))
    written = count(raw.get("cache_creation_input_tokens"))
    reasoning = count(inside(raw, "output_tokens_details", "thinking_tokens"))
    if reasoning is None:
        reasoning = count(inside(raw, "output_tokens_details", "reasoning_tokens"))
    is_hidden = has_thinking and reasoning is None
    return Usage(
        prompt_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        visible_completion_tokens=None if is_hidden else visible(completion, reasoning),
        cached_prompt_tokens=cached,
        cache_write_tokens=written,
        cache_write_1h_tokens=hour_writes(raw.get("cache_creation")),
        cost_usd=cost_usd(raw),
        raw=dict(raw),
    )


def _lenient(fields: object) -> Event:
    """Return what can be used of an event whose fields have other types than they should."""
    if not isinstance(fields, dict):
        return Event(type="")
    delta, index = _object(fields.get("delta")), fields.get("index")
    texts = {key: _text(value) for key, value in (delta or {}).items()}
    known = {key: texts[key] for key in BlockDelta.__struct_fields__ if key in texts}
    return Event(
        type=_text(fields.get("type")),
        index=index if isinstance(index, int) else None,
        delta=BlockDelta(**known) if delta is not None else None,
        content_block=_object(fields.get("content_block")),
        message=_object(fields.get("message")),
        usage=_object(fields.get("usage")),
        error=fields.get("error"),
    )


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
