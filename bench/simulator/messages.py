"""Anthropic Messages as the simulator reads and writes them. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from bench.simulator.answers import Reply
from bench.simulator.body import decoded, invalid
from bench.simulator.chat import ChatBody, ChatMessage, StreamOptions
from bench.simulator.events import FINGERPRINT, AnswerWriter, EventKind, Tail
from bench.simulator.framing import Framing
from bench.simulator.scenario import Scenario
from bench.simulator.spoken import Head, error_kind, parsed, shown_reasoning
from bench.simulator.thoughts import check_seal, sealed

_encode = msgspec.json.encode
_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
_KINDS = {"server_error": "api_error"}
_Block = dict[str, Any]


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a request."""

    role: str
    content: str | list[_Block]


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool on offer."""

    name: str
    input_schema: dict[str, Any] = {}


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a request that change the answer; all others are accepted and ignored."""

    model: str
    messages: list[Turn]
    max_tokens: int
    system: str | list[_Block] = ""
    stream: bool | None = None
    tools: list[Tool] | None = None
    thinking: dict[str, Any] = {}


_DECODER = msgspec.json.Decoder(Body)


class MessagesApi:
    """``POST /v1/messages``."""

    name: str = "messages"

    def read(self, body: bytes) -> ChatBody:
        """See ``Api``."""
        asked = decoded(_DECODER, body)
        if not asked.messages:
            raise invalid("messages: at least one message is required")
        if asked.max_tokens < 1:
            message = f"max_tokens: {asked.max_tokens} is less than 1"
            raise invalid(message)
        _check_thinking(asked)
        return ChatBody(
            model=asked.model,
            messages=[*_system(asked.system), *_chat(asked.messages)],
            stream=asked.stream,
            stream_options=StreamOptions(include_usage=True),
            max_tokens=asked.max_tokens,
            tools=[_function(tool) for tool in asked.tools or ()] or None,
        )

    def writer(self, scenario: Scenario, head: Head) -> AnswerWriter:
        """See ``Api``."""
        return MessagesWriter(scenario, head)

    def whole(self, scenario: Scenario, head: Head, reply: Reply) -> dict[str, Any]:
        """See ``Api``."""
        blocks: list[_Block] = []
        if thinking := shown_reasoning(scenario, reply):
            blocks.append({"type": "thinking", "thinking": thinking, "signature": sealed(thinking)})
        if reply.content:
            blocks.append({"type": "text", "text": "".join(reply.content)})
        blocks += [
            {
                "type": "tool_use",
                "id": f"call_sim_{index}",
                "name": call.name,
                "input": parsed(call.text),
            }
            for index, call in enumerate(reply.calls)
        ]
        message = _message(head)
        message["content"] = blocks
        message["stop_reason"] = None if scenario.no_finish else _reason(head.tail)
        message["usage"] = _usage(head.tail.usage)
        if scenario.usage == "never":
            del message["usage"]
        return message

    def error(self, code: str, message: str, *, status: int) -> bytes:
        """See ``Api``."""
        kind = "not_found_error" if code == "model_not_found" else error_kind(status)
        return _encode({**_error(kind, message), "system_fingerprint": FINGERPRINT})


class MessagesWriter:
    """Writes the events of one message; blocks open with their first piece, and end with the next."""

    def __init__(self, scenario: Scenario, head: Head) -> None:
        self._event = Framing(scenario, named=True, ping=b'{"type":"ping"}').event
        self._head = head
        self._has_begun = False
        self._block: str | None = None
        self._index = -1
        self._thought: list[str] = []

    def role(self) -> bytes:
        """See ``AnswerWriter``."""
        self._has_begun = True
        message = _message(self._head)
        message["usage"] |= {"output_tokens": 1}
        return self._typed({"type": "message_start", "message": message})

    def text_writer(self, field: str) -> Callable[[str], bytes]:
        """See ``AnswerWriter``."""
        kind = "text" if field == "content" else "thinking"

        def write(piece: str) -> bytes:
            before = b"" if self._block == kind else self._open(kind, {"type": kind, kind: ""})
            if kind == "thinking":
                self._thought.append(piece)
            return before + self._delta(f"{kind}_delta", kind, piece)

        return write

    def call_start(self, index: int, call_id: str, name: str) -> bytes:
        """See ``AnswerWriter``."""
        block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        return self._open(f"tool_use {index}", block)

    def call_piece(self, index: int, piece: str) -> bytes:  # noqa: ARG002 - of the open block
        """See ``AnswerWriter``."""
        return self._delta("input_json_delta", "partial_json", piece)

    def closing(self, scenario: Scenario, tail: Tail) -> Iterator[tuple[EventKind, bytes]]:
        """Yield the end of the block and the message's last delta, then its end mark."""
        if not scenario.no_finish:
            delta = {"stop_reason": _reason(tail), "stop_sequence": None}
            event: _Block = {"type": "message_delta", "delta": delta}
            if scenario.usage != "never":
                event["usage"] = _usage(tail.usage)
            yield "finish", self._begin() + self._close() + self._typed(event)
        for _ in range(scenario.done_lines):
            yield "done", self._typed({"type": "message_stop"})

    def error(self, code: str, message: str) -> bytes:  # noqa: ARG002 - it has no codes
        """See ``AnswerWriter``."""
        return self._typed(_error("overloaded_error", message))

    def bad_json(self) -> bytes:
        """See ``AnswerWriter``."""
        return self._event(b'{"type":"content_block_delta","index":0,"delta":{"type":"te', b"x")

    def _begin(self) -> bytes:
        return b"" if self._has_begun else self.role()

    def _open(self, block: str, start: _Block) -> bytes:
        before = self._begin() + self._close()
        self._block, self._index = block, self._index + 1
        event = {"type": "content_block_start", "index": self._index, "content_block": start}
        return before + self._typed(event)

    def _close(self) -> bytes:
        if self._block is None:
            return b""
        before = b""
        if self._block == "thinking":
            seal = sealed("".join(self._thought))
            self._thought.clear()
            before = self._delta("signature_delta", "signature", seal)
        self._block = None
        return before + self._typed({"type": "content_block_stop", "index": self._index})

    def _delta(self, kind: str, field: str, piece: str) -> bytes:
        delta = {"type": kind, field: piece}
        event = {"type": "content_block_delta", "index": self._index, "delta": delta}
        return self._typed(event)

    def _typed(self, event: _Block) -> bytes:
        return self._event(_encode(event), event["type"].encode())


# ---- requests ------------------------------------------------------------------------------------


def _system(system: str | list[_Block]) -> list[ChatMessage]:
    texts = [system] if isinstance(system, str) else [str(block.get("text")) for block in system]
    return [ChatMessage(role="system", content=text) for text in texts if text]


def _chat(turns: Iterable[Turn]) -> Iterator[ChatMessage]:
    """Yield the messages as chat completions would have them: a result of a tool is one of its own."""
    for turn in turns:
        if isinstance(turn.content, str):
            yield ChatMessage(role=turn.role, content=turn.content)
            continue
        for block in turn.content:
            if block.get("type") == "tool_result":
                yield ChatMessage(role="tool", content=block.get("content"))
        texts = [block for block in turn.content if block.get("type") == "text"]
        if texts or turn.role == "assistant":
            yield ChatMessage(role=turn.role, content=texts)


def _check_thinking(asked: Body) -> None:
    """Refuse what Anthropic's server refuses: thinking that was changed, or left out."""
    budget = asked.thinking.get("budget_tokens")
    if isinstance(budget, int) and budget >= asked.max_tokens:
        raise invalid("`max_tokens` must be greater than `thinking.budget_tokens`")
    for number, turn in enumerate(asked.messages):
        blocks = turn.content if isinstance(turn.content, list) else []
        where = f"messages.{number}.content"
        for block in blocks:
            if block.get("type") == "thinking":
                check_seal(block.get("thinking"), block.get("signature"), where=where)
        kinds = [block.get("type") for block in blocks]
        if asked.thinking.get("type") == "enabled" and "tool_use" in kinds[:1]:
            message = f"{where}: expected `thinking` before `tool_use` while thinking is enabled"
            raise invalid(message)


def _function(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": {"name": tool.name, "parameters": tool.input_schema}}


# ---- answers -------------------------------------------------------------------------------------


def _message(head: Head) -> dict[str, Any]:
    return {
        "id": f"msg_{head.number}",
        "type": "message",
        "role": "assistant",
        "model": head.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(head.tail.usage | {"completion_tokens": 0, "cost": None}),
        "system_fingerprint": FINGERPRINT,
        **head.tail.extra,
    }


def _reason(tail: Tail) -> str:
    return _STOP_REASONS.get(tail.finish_reason, tail.finish_reason)


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    told = {
        "input_tokens": usage["prompt_tokens"] - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": usage["completion_tokens"],
    }
    return told if usage["cost"] is None else {**told, "cost": usage["cost"]}


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": _KINDS.get(kind, kind), "message": message}}
