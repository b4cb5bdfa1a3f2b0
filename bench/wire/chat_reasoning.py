"""Reasoning that chat completions providers want back with the results of tools.

They have three ways: a text field of the message (``reasoning_content`` at DeepSeek, ``reasoning``
at vLLM), a list ``reasoning_details`` (OpenRouter), or ``extra_content`` beside a tool call
(Gemini's thought signatures). Sources: https://api-docs.deepseek.com/guides/thinking_mode,
https://openrouter.ai/docs/use-cases/reasoning-tokens,
https://ai.google.dev/gemini-api/docs/thought-signatures.
"""

from collections.abc import Iterable, Mapping
from typing import Any

_PIECES = ("text", "summary", "data")
"""Fields of a detail that arrive in pieces; every other one is told whole."""
_CALL = "toolCall"
"""Field of an opaque part that belongs to the tool call of this number."""


class ReasoningParts:
    """What one answer wants repeated, as it arrives."""

    __slots__ = ("_details", "_extras", "_field")

    def __init__(self) -> None:
        self._field: str | None = None
        self._details: dict[str, dict[str, Any]] = {}
        self._extras: dict[int, Any] = {}

    def spelled(self, field: str) -> None:
        """Note the field in which reasoning came as text."""
        self._field = self._field or field

    def detail(self, raw: Mapping[str, Any]) -> None:
        """Add one entry, or a piece of one, of ``reasoning_details``."""
        # In words: a stranger may send lists and objects there, which are no keys.
        entry = self._details.setdefault(repr((raw.get("type"), raw.get("index"))), {})
        for name, value in raw.items():
            if name in _PIECES and isinstance(value, str):
                earlier = entry.get(name)
                entry[name] = earlier + value if isinstance(earlier, str) else value
            elif value is not None or name not in entry:
                entry[name] = value

    def beside_call(self, call: int, content: object) -> None:
        """Note ``extra_content`` of the tool call of this number."""
        self._extras[call] = content

    def parts(self, reasoning: str) -> tuple[dict[str, Any], ...]:
        """Return the opaque parts of an answer with tool calls."""
        parts: list[dict[str, Any]] = []
        if self._details:
            parts.append({"reasoning_details": list(self._details.values())})
        elif self._field is not None:
            parts.append({self._field: reasoning})
        parts.extend(
            {_CALL: call, "extra_content": content} for call, content in self._extras.items()
        )
        return tuple(parts)


def put_back(message: dict[str, Any], parts: Iterable[Mapping[str, Any]]) -> None:
    """Add opaque parts to the assistant's message that they belong to."""
    calls = [dict(call) for call in message.get("tool_calls") or ()]
    for part in parts:
        number = part.get(_CALL)
        if number is None:
            message.update(part)
        elif isinstance(number, int) and number < len(calls):
            calls[number].update({key: part[key] for key in part if key != _CALL})
    if calls:
        message["tool_calls"] = calls
