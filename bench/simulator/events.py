"""The bytes of one answer's events, in the spelling a scenario asks for. Pure.

Everything that is the same in all events of an answer is encoded once; a token costs one small
JSON string and a concatenation.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from bench.simulator.framing import Framing
from bench.simulator.scenario import Scenario

FINGERPRINT = "gateway-bench-simulator"

EventKind = Literal[
    "role", "content", "reasoning", "tool", "finish", "usage", "done", "error", "bad_json"
]
_encode = msgspec.json.encode


class Tail(NamedTuple):
    """What follows the tokens."""

    finish_reason: str
    """In the words of chat completions."""
    usage: dict[str, Any]
    """In the shape of chat completions."""
    extra: dict[str, Any]
    wants_usage: bool


class AnswerWriter(Protocol):
    """Writes the events of one answer in one protocol; texts are never empty."""

    def role(self) -> bytes:
        """Return what opens the answer, without a token."""
        ...

    def text_writer(self, field: str) -> Callable[[str], bytes]:
        """Return what writes pieces of ``content``, or of reasoning under any other name."""
        ...

    def call_start(self, index: int, call_id: str, name: str) -> bytes:
        """Return what opens a tool call."""
        ...

    def call_piece(self, index: int, piece: str) -> bytes:
        """Return a piece of a call's arguments."""
        ...

    def closing(self, scenario: Scenario, tail: Tail) -> Iterator[tuple[EventKind, bytes]]:
        """Yield what follows the last token."""
        ...

    def error(self, code: str, message: str) -> bytes:
        """Return an error in the middle of the stream."""
        ...

    def bad_json(self) -> bytes:
        """Return an event whose data breaks off in the middle."""
        ...


class EventWriter:
    """Writes the events of chat completions."""

    def __init__(self, scenario: Scenario, *, answer_id: str, created: int, model: str) -> None:
        """Encode what all events share.

        Args:
            scenario: Spelling: line ends, comments, event names.
            answer_id: ``id`` of the completion.
            created: Unix seconds.
            model: The model that answers, as told to the client.
        """
        head = {
            "id": answer_id,
            "object": "chat.completion.chunk",
            "created": created,
            "model": model,
            "system_fingerprint": FINGERPRINT,
        }
        self._head = _encode(head)[:-1]
        self._delta_head = self._head + b',"choices":[{"index":0,"delta":'
        self._all_roles = scenario.role == "all"
        self._role_due = scenario.role in {"none", "all"}
        self._event = Framing(scenario, named=scenario.named).event

    def role(self) -> bytes:
        """Return the first delta of OpenAI's streams: a role and no content."""
        return self._event(self._delta_head + b'{"role":"assistant","content":""}' + _OPEN)

    def text_writer(self, field: str) -> Callable[[str], bytes]:
        """Return what writes deltas of one field, such as ``content``.

        Where the scenario has no delta for the role alone, the first of them names it.
        """
        named = f'{{"role":"assistant","{field}":'.encode()
        bare = named if self._all_roles else f'{{"{field}":'.encode()

        def write(piece: str) -> bytes:
            start = named if self._role_due else bare
            self._role_due = False
            return self._event(b"".join((self._delta_head, start, _encode(piece), b"}", _OPEN)))

        return write

    def call_start(self, index: int, call_id: str, name: str) -> bytes:
        """Return the delta that opens a tool call: id, type and name, no arguments yet."""
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": call_id, "type": "function", "function": function}
        return self._tool(call)

    def call_piece(self, index: int, piece: str) -> bytes:
        """Return a delta with a piece of the arguments of one call."""
        return self._tool({"index": index, "function": {"arguments": piece}})

    def finish(self, reason: str, usage: dict[str, Any] | None) -> bytes:
        """Return the empty delta with the finish reason, and usage if it rides along."""
        tail = b',"usage":' + _encode(usage) if usage is not None else b""
        choice = b'{},"logprobs":null,"finish_reason":' + _encode(reason) + b"}]" + tail + b"}"
        return self._event(self._delta_head + choice)

    def usage(self, usage: dict[str, Any], extra: dict[str, Any]) -> bytes:
        """Return the event with usage and no choice; ``extra`` are further top-level fields."""
        tail = _encode({"choices": [], "usage": usage, **extra})
        return self._event(self._head + b"," + tail[1:])

    def closing(self, scenario: Scenario, tail: Tail) -> Iterator[tuple[EventKind, bytes]]:
        """Yield finish, usage and ``[DONE]``."""
        usage = scenario.usage
        if not scenario.no_finish:
            riding = tail.usage if usage == "finish" else None
            yield "finish", self.finish(tail.finish_reason, riding)
        times = {"asked": int(tail.wants_usage), "always": 1, "twice": 2}.get(usage, 0)
        for _ in range(times):
            yield "usage", self.usage(tail.usage, tail.extra)
        for _ in range(scenario.done_lines):
            yield "done", self.done()

    def error(self, code: str, message: str) -> bytes:
        """Return an error object as an event of the stream."""
        body = error_body(code, message, kind="server_error")
        return self._event(body, name=b"error")

    def bad_json(self) -> bytes:
        """Return an event whose data breaks off in the middle."""
        return self._event(self._delta_head + b'{"content":"simul')

    def done(self) -> bytes:
        """Return ``[DONE]``."""
        return self._event(b"[DONE]", name=b"done")

    def _tool(self, call: dict[str, Any]) -> bytes:
        role = b'{"role":"assistant",' if self._all_roles or self._role_due else b"{"
        self._role_due = False
        return self._event(
            self._delta_head + role + b'"tool_calls":[' + _encode(call) + b"]}" + _OPEN
        )


_OPEN = b',"logprobs":null,"finish_reason":null}]}'


def error_body(code: str, message: str, *, kind: str) -> bytes:
    """Return OpenAI's error object. ``kind`` is its ``type``."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return _encode({"error": error, "system_fingerprint": FINGERPRINT})
