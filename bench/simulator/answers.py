"""What is answered: text cut into token-like pieces, filler, and the choice of right or wrong. Pure."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import msgspec

_PIECE = re.compile(r"\s*\w{1,7}|\s*[^\w\s]|\s+")
_SYLLABLES = tuple(consonant + vowel for consonant in "bdfgklmnprstv" for vowel in "aeiou")
_WIDE = (
    "grün",
    "Straße",
    "naïve",
    "日本",
    "語",
    "ελλάδα",
    "мир",
    "😀",
    "👩‍🔬",
    "é",
    "שלום",
    "नमस्ते",
)


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call of an answer; ``arguments`` as text or as the object it stands for."""

    name: str
    arguments: str | dict[str, Any] = "{}"

    @property
    def text(self) -> str:
        """The arguments as they go over the wire."""
        if isinstance(self.arguments, str):
            return self.arguments
        return msgspec.json.encode(self.arguments).decode()


class BookAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An answer as the book has it."""

    content: str = ""
    tool_calls: tuple[Call, ...] = ()


class CodingTask(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the book knows of a coding task."""

    paths: tuple[str, ...] = ()
    """Files that are there at first."""
    solution: Mapping[str, str] = {}
    """New texts of a right change, by path."""
    wrong: Mapping[str, str] = {}
    """Those of a plausible wrong one."""
    tests: tuple[str, ...] = ()
    """Paths of the visible tests."""


class BookEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One line of the answer book."""

    prompt_hash: str
    answer: BookAnswer
    wrong: BookAnswer | None = None
    task: CodingTask | None = None
    """The prompt opens a coding task: scripted agents work on it, ``answer`` is not used."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """An answer cut into tokens, as it will be sent or cut off."""

    reasoning: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    call_tokens: int = 0
    finish_reason: Literal["stop", "length", "tool_calls"] = "stop"

    @property
    def tokens(self) -> int:
        """Completion tokens, reasoning included."""
        return len(self.reasoning) + len(self.content) + self.call_tokens


def pieces(text: str) -> tuple[str, ...]:
    """Return ``text`` cut into token-like pieces; joined they are the text again."""
    return tuple(_PIECE.findall(text))


def draw(*parts: object) -> int:
    """Return an even number in [0, 2**56) that is the same for the same parts, anywhere."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:7], "big")


def share(*parts: object) -> float:
    """Return an even number in [0, 1) that is the same for the same parts, anywhere."""
    return draw(*parts) / 2**56


def filler(count: int, *, start: int, unicode: bool) -> tuple[str, ...]:
    """Return ``count`` pieces of meaningless text, one token each.

    Args:
        count: At least 0.
        start: Where in the stock of words to begin; the same start gives the same text.
        unicode: Characters of two to four bytes, and clusters of several, among the words.
    """
    stock = _WIDE if unicode else _stock()
    begin = start % len(stock)
    rounds = (begin + count) // len(stock) + 1
    words = (stock * rounds)[begin : begin + count]
    return (words[0].lstrip(), *words[1:]) if words else ()


def is_right(entry: BookEntry, *, percent: float, seed: int, provider: str) -> bool:
    """Return whether a provider answers this prompt rightly: fixed per seed, provider, prompt."""
    if entry.wrong is None and (entry.task is None or not entry.task.wrong):
        return True
    return share("right", seed, provider, entry.prompt_hash) * 100 < percent


def invented_call(tools: Sequence[dict[str, Any]], index: int) -> Call:
    """Return a call of one of the offered tools, with arguments of its schema's types."""
    if not tools:
        return Call(name="simulated_tool", arguments='{"text":"simulated"}')
    function = tools[index % len(tools)].get("function")
    if not isinstance(function, dict):
        return Call(name="simulated_tool", arguments="{}")
    schema = function.get("parameters")
    value = _sample(schema if isinstance(schema, dict) else {}, depth=0)
    arguments = value if isinstance(value, dict) else {}
    return Call(name=str(function.get("name", "simulated_tool")), arguments=arguments)


@cache
def _stock() -> tuple[str, ...]:
    """Words with the space before them; drawn once, since drawing costs more than sending."""
    count = len(_SYLLABLES)
    draws = (draw("word", number) for number in range(4096))
    return tuple(
        f" {_SYLLABLES[value % count]}{_SYLLABLES[value // count % count]}" for value in draws
    )


_SAMPLES: Mapping[object, object] = {
    "string": "simulated",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
}
_DEEPEST = 8


def _sample(schema: dict[str, Any], *, depth: int) -> object:
    """Return a value that a JSON schema's types allow; deep nesting ends in ``{}``."""
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _SAMPLES:
        return _SAMPLES[kind]
    return _sample_object(schema, depth=depth)


def _sample_object(schema: dict[str, Any], *, depth: int) -> dict[str, object]:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or depth > _DEEPEST:
        return {}
    return {
        str(name): _sample(inner, depth=depth + 1)
        for name, inner in properties.items()
        if isinstance(inner, dict)
    }
