"""A chat completion request, checked as OpenAI's API checks it; other protocols become one. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from bench.prompt import prompt_hash
from bench.simulator.body import decoded, invalid


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message; other fields of it are of no interest here."""

    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """Its text: parts that are no text (images, audio) count as nothing."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content or ()
        return "".join(text for part in parts if isinstance(text := part.get("text"), str))


class StreamOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked about the stream."""

    include_usage: bool | None = None


class ChatBody(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a request that change the answer; all others are accepted and ignored."""

    model: str
    messages: list[ChatMessage]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    tools: list[dict[str, Any]] | None = None
    include: list[str] | None = None
    """What else a request in another protocol wants to be told."""

    @property
    def limit(self) -> int | None:
        """Most completion tokens allowed."""
        if self.max_completion_tokens is not None:
            return self.max_completion_tokens
        return self.max_tokens

    @property
    def wants_usage(self) -> bool:
        """Whether usage was asked for in the stream."""
        return self.stream_options is not None and self.stream_options.include_usage is True


_DECODER = msgspec.json.Decoder(ChatBody)


def decode_chat(body: bytes) -> ChatBody:
    """Return the request in ``body``.

    Raises:
        RequestRefused: 400 for what is no JSON, lacks a field or has a wrong type.
    """
    chat = decoded(_DECODER, body)
    if not chat.messages:
        raise invalid("`messages` is empty; one message is the least")
    if chat.limit is not None and chat.limit < 1:
        message = f"`max_tokens` is {chat.limit}; 1 is the least"
        raise invalid(message)
    return chat


def fingerprint(messages: Sequence[ChatMessage]) -> str:
    """Return the prompt hash of a conversation: the key of the answer book."""
    return prompt_hash(message.text for message in messages)


def prompt_tokens(messages: Sequence[ChatMessage]) -> int:
    """Return a prompt's token count: a token per four characters, and three per message."""
    return sum(len(message.text) // 4 + 3 for message in messages)
