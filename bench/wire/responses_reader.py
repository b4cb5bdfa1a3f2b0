"""OpenAI Responses: the answer, streamed or whole.

Source: https://platform.openai.com/docs/api-reference/responses-streaming.
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
from bench.wire.usage import cost_usd, count, inside, visible

_LENGTH = "max_output_tokens"
_REASONS: Mapping[str, str] = MappingProxyType({_LENGTH: "length", "max_tokens": "length"})
"""Reason of an incomplete answer → word of chat completions; any other stays as it is."""
_CONTENT = ("response.output_text.delta", "response.refusal.delta")
_REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ARGUMENTS = "response.function_call_arguments.delta"
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_FAILED = ("failed", "cancelled")
_FILLED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"message": ("content",), "function_call": ("name", "arguments", "call_id")}
)
"""Items that a message can say itself → their fields that it fills."""


class Event(msgspec.Struct, gc=False):
    """The fields that count of one event."""

    type: str | None = None
    delta: str | None = None
    output_index: int | None = None
    item_id: str | None = None
    item: dict[str, Any] | None = None
    response: dict[str, Any] | None = None
    error: Any = None


_STRICT = msgspec.json.Decoder(Event)


class ResponsesReader:
    """What the events of Responses mean.

    Deltas come first; what only a later, complete form of an item or of the answer says is added
    when that arrives, so that servers which skip deltas are read too.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._fields: dict[str, Any] = {}
        self._usage: Mapping[str, Any] | None = None
        self._items: list[dict[str, Any]] = []
        """Complete items, in the order of their end."""
        self._called: dict[str, int] = {}
        """Id of a call's item → its number."""
        self._with_arguments: set[int] = set()

    def event(self, event: SseEvent) -> None:
        """Take one event; see ``Reader``."""
        try:
            said = _STRICT.decode(event.data)
        except msgspec.ValidationError:
            said = _lenient(msgspec.json.decode(event.data))
        kind = said.type
        if kind in _CONTENT:
            self._draft.add_content(said.delta or "")
        elif kind in _REASONING:
            self._draft.add_reasoning(said.delta or "")
        elif kind == _ARGUMENTS:
            self._arguments(self._call_number(said), said.delta or "")
        elif kind == "error" or said.error is not None or event.name == b"error":
            self._draft.examine(event.data, is_error_event=True)
        elif kind is None:
            self._strange(msgspec.json.decode(event.data))
        else:
            self._structure(said, kind)

    def pieces(self, events: Sequence[bytes]) -> list[str] | None:  # noqa: ARG002 - the protocol's
        """Take nothing: these events have names."""
        return None

    def whole(self, body: bytes) -> None:
        """Take an answer in one piece; see ``Reader``."""
        fields = msgspec.json.decode(body)
        if not isinstance(fields, dict):
            raise msgspec.DecodeError("no object")
        if not isinstance(fields.get("output"), list):
            self._strange(fields)
        self._ended(fields)

    def rest(self) -> Rest:
        """Return usage, fields, and the items to repeat."""
        if self._usage:
            self._fields["usage"] = self._usage
        hides = any(item.get("type") not in _FILLED for item in self._items)
        return Rest(
            usage=read_usage(self._usage) if self._usage else None,
            fields=self._fields,
            opaque=tuple(map(_place, self._items)) if hides else (),
        )

    # ---- items ------------------------------------------------------------------

    def _structure(self, said: Event, kind: str) -> None:
        if kind == "response.output_item.added" and said.item is not None:
            if said.item.get("type") == "function_call":
                self._call(said, said.item)
        elif kind == "response.output_item.done" and said.item is not None:
            self._done(said, said.item)
        elif said.response is not None:
            if kind in _ENDS:
                self._draft.done()
                self._ended(said.response)
            else:
                self._told(said.response)

    def _call(self, said: Event, item: Mapping[str, Any]) -> int:
        """Take a call's name and id; return its number."""
        number = self._call_number(said, item)
        name, call_id = _text(item.get("name")), _text(item.get("call_id"))
        self._draft.calls.add(index=number, id_=call_id, name=name, arguments="")
        self._draft.note_tool(len(name))
        self._arguments(number, _text(item.get("arguments")))
        return number

    def _call_number(self, said: Event, item: Mapping[str, Any] | None = None) -> int:
        """Return the number of the call that an event is about; a new one for an item not seen."""
        keys = [said.item_id, (item or {}).get("id"), (item or {}).get("call_id")]
        if said.output_index is not None:
            keys.append(f"#{said.output_index}")
        named = [key for key in keys if isinstance(key, str) and key]
        known = next((self._called[key] for key in named if key in self._called), None)
        if known is None:
            latest = max(self._called.values(), default=-1)
            known = latest + 1 if item is not None else max(latest, 0)
        self._called.update(dict.fromkeys(named or ["?"], known))
        return known

    def _arguments(self, number: int, piece: str) -> None:
        if piece:
            self._with_arguments.add(number)
            self._draft.calls.add(index=number, id_=None, name="", arguments=piece)
            self._draft.note_tool(len(piece))

    def _done(self, said: Event, item: dict[str, Any]) -> None:
        """Take an item that is complete: what its deltas did not say, and the item itself."""
        self._items.append(item)
        if item.get("type") != "function_call":
            return
        seen = len(set(self._called.values()))
        number = self._call_number(said, item)
        if number >= seen:
            self._call(said, item)
        elif number not in self._with_arguments:
            self._arguments(number, _text(item.get("arguments")))

    # ---- the answer as a whole -----------------------------------------------------

    def _told(self, response: Mapping[str, Any]) -> None:
        draft = self._draft
        draft.model = _text(response.get("model")) or draft.model
        draft.fingerprint = _text(response.get("system_fingerprint")) or draft.fingerprint
        usage = response.get("usage")
        if isinstance(usage, Mapping) and usage:
            self._usage = usage
        self._fields.update(
            (key, value) for key, value in response.items() if key != "output" and value is not None
        )

    def _ended(self, response: Mapping[str, Any]) -> None:
        """Take the complete answer; its texts only where no delta and no item told them."""
        self._told(response)
        items = _objects(response.get("output"))
        self._missing(items)
        status = _text(response.get("status"))
        failure = response.get("error")
        if failure or status in _FAILED:
            named = failure_in({"error": failure}) if failure else None
            self._draft.upstream_failed(named or f"the answer's status is `{status}`")
        elif status == "incomplete":
            reason = _text(inside(response, "incomplete_details", "reason")) or status
            self._draft.end(reason, _REASONS.get(reason, reason))
        elif status == "completed":
            calls = any(item.get("type") == "function_call" for item in (*items, *self._items))
            self._draft.end(status, "tool_calls" if calls else "stop")

    def _missing(self, items: list[dict[str, Any]]) -> None:
        draft = self._draft
        if not draft.reasoning:
            draft.add_reasoning("".join(map(_thought, items)))
        if not draft.content:
            draft.add_content("".join(map(_said, items)))
        if not self._items:
            for number, item in enumerate(items):
                self._done(Event(output_index=number), item)

    def _strange(self, fields: object) -> None:
        """Take what has none of the protocol's shapes: a failure, or another protocol."""
        if not isinstance(fields, dict):
            return
        message = failure_in(fields)
        if message is not None:
            self._draft.upstream_failed(message)
        elif fields.get("choices") or fields.get("content"):
            other = "chat completions" if "choices" in fields else "messages"
            message = f"the answer has the shape of {other}, not of responses"
            self._draft.fail(Fault(code="invalid_stream_json", message=message))


def read_usage(raw: Mapping[str, Any]) -> Usage | None:
    """Return the counts in a ``usage`` object, ``None`` when it holds none; all are inclusive."""
    prompt, completion = count(raw.get("input_tokens")), count(raw.get("output_tokens"))
    if prompt is None and completion is None:
        return None
    reasoning = count(inside(raw, "output_tokens_details", "reasoning_tokens"))
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        visible_completion_tokens=visible(completion, reasoning),
        cached_prompt_tokens=count(inside(raw, "input_tokens_details", "cached_tokens")),
        cache_write_tokens=count(inside(raw, "input_tokens_details", "cache_write_tokens")),
        cost_usd=cost_usd(raw),
        raw=dict(raw),
    )


def _place(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item as an opaque part: without what the message that repeats it says itself."""
    filled = _FILLED.get(str(item.get("type")), ())
    return {key: value for key, value in item.items() if key not in filled}


def _said(item: Mapping[str, Any]) -> str:
    return _joined(item.get("content")) if item.get("type") == "message" else ""


def _thought(item: Mapping[str, Any]) -> str:
    if item.get("type") != "reasoning":
        return ""
    return _joined(item.get("summary")) or _joined(item.get("content"))


def _joined(parts: object) -> str:
    """Return the texts of a list of parts."""
    found = _objects(parts)
    return "".join(_text(part.get("text")) or _text(part.get("refusal")) for part in found)


def _lenient(fields: object) -> Event:
    """Return what can be used of an event whose fields have other types than they should."""
    if not isinstance(fields, dict):
        return Event(type="")
    item, response = fields.get("item"), fields.get("response")
    index = fields.get("output_index")
    return Event(
        type=_text(fields.get("type")) or None,
        delta=_text(fields.get("delta")) or None,
        output_index=index if isinstance(index, int) else None,
        item_id=_text(fields.get("item_id")) or None,
        item=item if isinstance(item, dict) else None,
        response=response if isinstance(response, dict) else None,
        error=fields.get("error"),
    )


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
