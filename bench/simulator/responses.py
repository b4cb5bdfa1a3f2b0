"""OpenAI Responses as the simulator reads and writes them. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from bench.simulator.answers import Reply
from bench.simulator.body import decoded, invalid
from bench.simulator.chat import ChatBody, ChatMessage, StreamOptions
from bench.simulator.events import FINGERPRINT, AnswerWriter, EventKind, Tail, error_body
from bench.simulator.framing import Framing
from bench.simulator.scenario import Scenario
from bench.simulator.spoken import Head, error_kind, shown_reasoning
from bench.simulator.thoughts import check_seal, sealed

_encode = msgspec.json.encode
_Item = dict[str, Any]
_LEAST_LIMIT = 16
"""OpenAI's own."""
_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}
_SPOKEN_BY_ASSISTANT = ("reasoning", "function_call")


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a request that change the answer; all others are accepted and ignored."""

    model: str
    input: str | list[_Item]
    instructions: str | None = None
    max_output_tokens: int | None = None
    stream: bool | None = None
    tools: list[_Item] | None = None
    include: list[str] | None = None


_DECODER = msgspec.json.Decoder(Body)


class ResponsesApi:
    """``POST /v1/responses``."""

    name: str = "responses"

    def read(self, body: bytes) -> ChatBody:
        """See ``Api``."""
        asked = decoded(_DECODER, body)
        items = asked.input if isinstance(asked.input, list) else [_user(asked.input)]
        if not items:
            raise invalid("`input` is empty; one item is the least")
        if asked.max_output_tokens is not None and asked.max_output_tokens < _LEAST_LIMIT:
            message = (
                f"`max_output_tokens` is {asked.max_output_tokens}; {_LEAST_LIMIT} is the least"
            )
            raise invalid(message)
        system = [ChatMessage(role="system", content=asked.instructions)]
        return ChatBody(
            model=asked.model,
            messages=[*(system if asked.instructions else ()), *_chat(items)],
            stream=asked.stream,
            stream_options=StreamOptions(include_usage=True),
            max_tokens=asked.max_output_tokens,
            tools=[_function(tool) for tool in asked.tools or ()] or None,
            include=asked.include,
        )

    def writer(self, scenario: Scenario, head: Head) -> AnswerWriter:
        """See ``Api``."""
        return ResponsesWriter(scenario, head)

    def whole(self, scenario: Scenario, head: Head, reply: Reply) -> dict[str, Any]:
        """See ``Api``."""
        items: list[_Item] = []
        if thought := shown_reasoning(scenario, reply):
            items.append(_reasoning(head, len(items), thought, scenario.reasoning_field))
        if reply.content:
            items.append(_said(head, len(items), "".join(reply.content)))
        for index, call in enumerate(reply.calls):
            item = _call(head, len(items), f"call_sim_{index}", call.name)
            items.append({**item, "arguments": call.text, "status": "completed"})
        status = "in_progress" if scenario.no_finish else "completed"
        return _response(scenario, head, items, status=status)

    def error(self, code: str, message: str, *, status: int) -> bytes:
        """See ``Api``."""
        return error_body(code, message, kind=error_kind(status))


class ResponsesWriter:
    """Writes the events of one response; an item opens with its first piece, and ends with the next."""

    def __init__(self, scenario: Scenario, head: Head) -> None:
        self._event = Framing(scenario, named=True).event
        self._scenario = scenario
        self._head = head
        self._has_begun = False
        self._sequence = 0
        self._items: list[_Item] = []
        self._field: str | None = None
        """What the open item is made of: ``content``, a field of reasoning, or ``call``."""
        self._text: list[str] = []

    def role(self) -> bytes:
        """See ``AnswerWriter``."""
        self._has_begun = True
        response = _response(self._scenario, self._head, [], status="in_progress")
        names = ("response.created", "response.in_progress")
        return b"".join(self._typed(name, response=response) for name in names)

    def text_writer(self, field: str) -> Callable[[str], bytes]:
        """See ``AnswerWriter``."""
        kind = {
            "content": "response.output_text.delta",
            "reasoning": "response.reasoning_text.delta",
        }.get(field, "response.reasoning_summary_text.delta")
        part = {"summary_index": 0} if "summary" in kind else {"content_index": 0}

        def write(piece: str) -> bytes:
            before = b"" if self._field == field else self._open(field)
            self._text.append(piece)
            return before + self._in_item(kind, **part, delta=piece)

        return write

    def call_start(self, index: int, call_id: str, name: str) -> bytes:  # noqa: ARG002 - by item
        """See ``AnswerWriter``."""
        before = self._begin() + self._close()
        self._field = "call"
        self._items.append(_call(self._head, len(self._items), call_id, name))
        return before + self._added()

    def call_piece(self, index: int, piece: str) -> bytes:  # noqa: ARG002 - by item
        """See ``AnswerWriter``."""
        self._text.append(piece)
        return self._in_item("response.function_call_arguments.delta", delta=piece)

    def closing(self, scenario: Scenario, tail: Tail) -> Iterator[tuple[EventKind, bytes]]:
        """Yield the end of the last item, then the whole answer, which is the end mark."""
        before = self._begin() + self._close()
        if scenario.no_finish:
            return
        if before:
            # Nothing to send would be the chunk of no bytes that ends a body.
            yield "finish", before
        is_cut = tail.finish_reason in _REASONS
        name = f"response.{'incomplete' if is_cut else 'completed'}"
        for _ in range(scenario.done_lines):
            response = _response(scenario, self._head, self._items, status="completed")
            yield "done", self._typed(name, response=response)

    def error(self, code: str, message: str) -> bytes:
        """See ``AnswerWriter``."""
        return self._typed("error", code=code, message=message, param=None)

    def bad_json(self) -> bytes:
        """See ``AnswerWriter``."""
        return self._event(b'{"type":"response.output_text.delta","delta":"simul', b"x")

    # ---- items -------------------------------------------------------------------

    def _begin(self) -> bytes:
        return b"" if self._has_begun else self.role()

    def _open(self, field: str) -> bytes:
        before = self._begin() + self._close()
        self._field = field
        number = len(self._items)
        if field == "content":
            item = _said(self._head, number, None)
            part = {"type": "output_text", "text": "", "annotations": []}
            opening = ("response.content_part.added", {"content_index": 0, "part": part})
        else:
            item = _reasoning(self._head, number, None, field)
            part = {"type": "summary_text", "text": ""}
            opening = ("response.reasoning_summary_part.added", {"summary_index": 0, "part": part})
        self._items.append(item)
        name, fields = opening
        is_plain = field == "reasoning"  # raw reasoning has no summary part
        return before + self._added() + (b"" if is_plain else self._in_item(name, **fields))

    def _added(self) -> bytes:
        index = len(self._items) - 1
        return self._typed("response.output_item.added", output_index=index, item=self._items[-1])

    def _close(self) -> bytes:
        """End the open item: its text once more, then the item."""
        if self._field is None:
            return b""
        field, text = self._field, "".join(self._text)
        self._field, self._text = None, []
        index = len(self._items) - 1
        if field == "content":
            item = _said(self._head, index, text)
            done = self._in_item("response.output_text.done", content_index=0, text=text)
        elif field == "call":
            item = {**self._items[index], "arguments": text, "status": "completed"}
            done = self._in_item("response.function_call_arguments.done", arguments=text)
        else:
            item = _reasoning(self._head, index, text, field)
            name = "reasoning_text" if field == "reasoning" else "reasoning_summary_text"
            done = self._in_item(f"response.{name}.done", text=text)
        self._items[index] = item
        return done + self._typed("response.output_item.done", output_index=index, item=item)

    def _in_item(self, name: str, **fields: Any) -> bytes:  # noqa: ANN401 - any JSON
        index = len(self._items) - 1
        return self._typed(name, item_id=self._items[index]["id"], output_index=index, **fields)

    def _typed(self, name: str, **fields: Any) -> bytes:  # noqa: ANN401 - any JSON
        event = {"type": name, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return self._event(_encode(event), name.encode())


# ---- requests ------------------------------------------------------------------------------------


def _user(text: str) -> _Item:
    return {"role": "user", "content": text}


def _chat(items: Iterable[_Item]) -> Iterator[ChatMessage]:
    """Yield the messages as chat completions would have them: an assistant's items are one."""
    said: list[str] | None = None
    for item in items:
        kind, role = item.get("type", "message"), item.get("role")
        if kind in _SPOKEN_BY_ASSISTANT or role == "assistant":
            said = said or []
            said.append(_text(item.get("content")) if kind == "message" else "")
            if kind == "reasoning" and "encrypted_content" in item:
                check_seal(_thought(item), item["encrypted_content"], where="input reasoning")
            continue
        if said is not None:
            yield ChatMessage(role="assistant", content="".join(said))
            said = None
        if kind == "function_call_output":
            yield ChatMessage(role="tool", content=_text(item.get("output")))
        else:
            yield ChatMessage(role=str(role), content=_text(item.get("content")))
    if said is not None:
        yield ChatMessage(role="assistant", content="".join(said))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _thought(item: _Item) -> str:
    return _text(item.get("summary")) or _text(item.get("content"))


def _function(tool: _Item) -> dict[str, Any]:
    parameters = tool.get("parameters") or {}
    return {"type": "function", "function": {"name": tool.get("name"), "parameters": parameters}}


# ---- answers -------------------------------------------------------------------------------------


def _response(scenario: Scenario, head: Head, items: list[_Item], *, status: str) -> dict[str, Any]:
    reason = _REASONS.get(head.tail.finish_reason)
    is_cut = status == "completed" and reason is not None
    response: dict[str, Any] = {
        "id": f"resp_{head.number}",
        "object": "response",
        "created_at": head.created,
        "status": "incomplete" if is_cut else status,
        "error": None,
        "incomplete_details": {"reason": reason} if is_cut else None,
        "model": head.model,
        "output": items,
        "usage": None,
        "system_fingerprint": FINGERPRINT,
        **head.tail.extra,
    }
    if status == "completed" and scenario.usage != "never":
        response["usage"] = _usage(head.tail.usage)
    return response


def _said(head: Head, number: int, text: str | None) -> _Item:
    parts = [] if text is None else [{"type": "output_text", "text": text, "annotations": []}]
    status = "in_progress" if text is None else "completed"
    return {
        "id": f"msg_{head.number}_{number}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": parts,
    }


def _reasoning(head: Head, number: int, text: str | None, field: str) -> _Item:
    """Return a reasoning item: raw text under its own name, anything else as a summary."""
    item: _Item = {"id": f"rs_{head.number}_{number}", "type": "reasoning", "summary": []}
    if text is None:
        return item
    if field == "reasoning":
        item["content"] = [{"type": "reasoning_text", "text": text}]
    else:
        item["summary"] = [{"type": "summary_text", "text": text}]
    if "reasoning.encrypted_content" in (head.chat.include or ()):
        item["encrypted_content"] = sealed(text)
    return item


def _call(head: Head, number: int, call_id: str, name: str) -> _Item:
    return {
        "id": f"fc_{head.number}_{number}",
        "type": "function_call",
        "status": "in_progress",
        "call_id": call_id,
        "name": name,
        "arguments": "",
    }


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": usage["prompt_tokens_details"],
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": usage["completion_tokens_details"],
        "total_tokens": usage["total_tokens"],
        "cost": usage["cost"],
    }
