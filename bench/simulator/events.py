"""The bytes of one answer's events, in the spelling a scenario asks for. Pure.

Everything that is the same in all events of an answer is encoded once; a token costs one small
JSON string and a concatenation.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from bench.simulator.scenario import Scenario

FINGERPRINT = "gateway-bench-simulator"

EventKind = Literal[
    "role", "content", "reasoning", "tool", "finish", "usage", "done", "error", "bad_json"
]
_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
_encode = msgspec.json.encode


class EventWriter:
    """Writes the events of one answer."""

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
        self._number = 0
        self._named = scenario.named
        self._multiline = scenario.multiline
        self._all_roles = scenario.role == "all"
        self._role_due = scenario.role in {"none", "all"}
        self._end = _LINE_ENDS[scenario.line_end]
        self._data = b"data: " if scenario.space else b"data:"
        before = b": simulated" + self._end * 2 if scenario.comments else b""
        if scenario.pings:
            before += b"event: ping" + self._end + self._data + b"{}" + self._end * 2
        self._before = before
        self._is_simple = not (self._named or self._multiline)
        self._start, self._stop = before + self._data, self._end * 2

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

    def _event(self, text: bytes, name: bytes = b"chunk") -> bytes:
        if self._is_simple:
            return self._start + text + self._stop
        end, data = self._end, self._data
        if self._multiline:
            text = text.replace(b',"', b"," + end + data + b'"', 1)
        if not self._named:
            return self._start + text + self._stop
        number = b"id: %d" % self._number
        self._number += 1
        return self._before + end.join((b"event: " + name, data + text, number, b"", b""))


_OPEN = b',"logprobs":null,"finish_reason":null}]}'


def error_body(code: str, message: str, *, kind: str) -> bytes:
    """Return OpenAI's error object. ``kind`` is its ``type``."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return _encode({"error": error, "system_fingerprint": FINGERPRINT})
