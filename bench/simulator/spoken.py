"""The seam between what is answered and the protocol that says it. Chat completions is one. Pure."""

from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from bench.simulator.answers import Reply
from bench.simulator.chat import ChatBody, decode_chat
from bench.simulator.events import FINGERPRINT, AnswerWriter, EventWriter, Tail, error_body
from bench.simulator.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What an answer says of itself before its first token."""

    number: str
    """Unique; a protocol puts its own prefix before it."""
    created: int
    """Unix seconds."""
    model: str
    """The model that answers."""
    chat: ChatBody
    """What was asked."""
    tail: Tail
    """What will end it; some protocols count the prompt before they answer."""


class Api(Protocol):
    """One protocol: how a request is read, an answer written."""

    @property
    def name(self) -> str:
        """As in the request log."""
        ...

    def read(self, body: bytes) -> ChatBody:
        """Return the request in the form of chat completions.

        Raises:
            RequestRefused: 400 for what the protocol's own server would refuse.
        """
        ...

    def writer(self, scenario: Scenario, head: Head) -> AnswerWriter:
        """Return what writes a stream."""
        ...

    def whole(self, scenario: Scenario, head: Head, reply: Reply) -> dict[str, Any]:
        """Return the answer as one object."""
        ...

    def error(self, code: str, message: str, *, status: int) -> bytes:
        """Return the body of an error."""
        ...


_KINDS = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}


def error_kind(status: int) -> str:
    """Return OpenAI's name for what went wrong."""
    refused = 400 <= status < 500  # noqa: PLR2004 - the client's own faults
    return _KINDS.get(status, "invalid_request_error" if refused else "server_error")


def shown_reasoning(scenario: Scenario, reply: Reply) -> str:
    """Return the reasoning that the answer shows."""
    return "" if scenario.reasoning_field == "hidden" else "".join(reply.reasoning)


class ChatApi:
    """``POST /v1/chat/completions``."""

    name: str = "chat"

    def read(self, body: bytes) -> ChatBody:
        """See ``Api``."""
        return decode_chat(body)

    def writer(self, scenario: Scenario, head: Head) -> AnswerWriter:
        """See ``Api``."""
        return EventWriter(
            scenario,
            answer_id=f"chatcmpl-{head.number}",
            created=head.created,
            model=head.model,
        )

    def whole(self, scenario: Scenario, head: Head, reply: Reply) -> dict[str, Any]:
        """See ``Api``."""
        tail = head.tail
        choice = {
            "index": 0,
            "message": _message(scenario, reply),
            "logprobs": None,
            "finish_reason": None if scenario.no_finish else tail.finish_reason,
        }
        body: dict[str, Any] = {
            "id": f"chatcmpl-{head.number}",
            "object": "chat.completion",
            "created": head.created,
            "model": head.model,
            "system_fingerprint": FINGERPRINT,
            "choices": [choice],
            **tail.extra,
        }
        if scenario.usage != "never":
            body["usage"] = tail.usage
        return body

    def error(self, code: str, message: str, *, status: int) -> bytes:
        """See ``Api``."""
        return error_body(code, message, kind=error_kind(status))


def _message(scenario: Scenario, reply: Reply) -> dict[str, Any]:
    content = "".join(reply.content)
    message: dict[str, Any] = {"role": "assistant", "content": content or None}
    if not reply.calls:
        message["content"] = content
    if reasoning := shown_reasoning(scenario, reply):
        message[scenario.reasoning_field] = reasoning
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": f"call_sim_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.text},
            }
            for index, call in enumerate(reply.calls)
        ]
    return message


def parsed(text: str) -> dict[str, Any]:
    """Return a call's arguments as an object; ``{}`` for what is none."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        found = None
    return found if isinstance(found, dict) else {}
