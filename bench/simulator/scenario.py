"""How one answer behaves, and the words that say so. Pure.

The same words are used in a model name (``sim-ttft50-itl10-n100-cut3``), which survives being
passed through other gateways, and in the header ``x-simulate: ttft=50ms,itl=10ms,tokens=100``.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from bench.simulator.errors import RequestRefused, near
from bench.simulator.vocabulary import ALIASES, WORDS, Unit, Word

End = Literal["cut", "eof", "reset", "error", "stall"]
Agent = Literal["perfect", "sloppy", "stubborn", "malformed", "endless", "cheating"]
ReasoningField = Literal["reasoning", "reasoning_content", "hidden"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One behaviour. Times are nanoseconds since the request was read; ``None`` = does not happen."""

    ttft_ns: int = 0
    itl_ns: int = 0
    jitter_ns: int = 0
    """Each gap varies evenly by up to this much either way; order is kept."""
    headers_ns: int = 0
    late_headers: bool = False
    """Headers go out together with the first event."""
    linger_ns: int = 0
    """The last HTTP chunk follows this long after the last event."""

    tokens: int | None = None
    """``None`` = the answer book's answer, else the provider's usual length."""
    tokens_per_event: int = 1
    events_per_write: int = 1
    hold: bool = False
    buffer_bytes: int | None = None
    split_bytes: int | None = None

    reasoning_tokens: int = 0
    reasoning_field: ReasoningField = "reasoning_content"
    tool_calls: int | None = None
    tool_pieces: int = 3
    empty: bool = False
    unicode: bool = False
    finish_reason: str | None = None
    """``None`` = the natural one: ``stop``, ``length`` or ``tool_calls``."""
    no_finish: bool = False
    right_percent: float | None = None
    """How often the answer is the book's right one; ``None`` = the provider's rate."""

    agent: Agent | None = None
    """Who works on a coding task; ``None`` = the perfect one where the answer is to be right, else
    the sloppy one."""

    status: int | None = None
    retry_after_s: int | None = None
    html: bool = False
    failing_percent: float = 0.0
    hang: bool = False
    end: End | None = None
    """The answer breaks off this way …"""
    end_at: int | None = None
    """… after this many tokens; ``None`` = before the headers."""
    pause_at: int | None = None
    pause_ns: int = 0
    bad_json_at: int | None = None

    role: Literal["first", "early", "none", "all"] = "first"
    done_lines: int = 1
    usage: Literal["asked", "always", "never", "twice", "finish"] = "asked"
    line_end: Literal["lf", "crlf", "cr"] = "lf"
    space: bool = True
    comments: bool = False
    pings: bool = False
    named: bool = False
    multiline: bool = False
    as_json: bool = False
    gzip: bool = False

    rate_per_s: int | None = None
    fallback: bool = False
    cache: bool = False
    cached_prompt_percent: float = 0.0

    @property
    def sends_each_event(self) -> bool:
        """Whether each event is a write of its own."""
        held = self.hold or self.buffer_bytes is not None or self.split_bytes is not None
        return self.events_per_write == 1 and not held


_WORD = re.compile(r"([a-z]+)=?(\d+(?:\.\d+)?)?(us|ms|s|k|%)?")
_SUFFIXES: Mapping[Unit, Mapping[str | None, float]] = {
    "flag": {None: 1},
    "ms": {None: 1, "us": 1e-3, "ms": 1, "s": 1000},
    "count": {None: 1, "k": 1000},
    "bytes": {None: 1, "k": 1024},
    "percent": {None: 1, "%": 1},
    "seconds": {None: 1, "s": 1},
}
"""What may follow a number, and its worth in the word's own unit."""


def parse_words(words: Iterable[str], base: Scenario) -> Scenario:
    """Return ``base`` changed by ``words``.

    Args:
        words: Such as ``ttft50``, ``ttft=50ms``, ``tokens=100``, ``gzip``; case and surrounding
            space do not matter, empty ones are skipped.
        base: What holds where no word says otherwise.

    Raises:
        RequestRefused: 400 for a word nobody knows (with near matches), a value out of bounds,
            or two different ends of one answer.
    """
    changes: dict[str, Any] = {}
    for text in words:
        if text.strip():
            for field, value in _change(text.strip().lower()).items():
                if field == "end" and changes.get("end", value) != value:
                    message = f"`{text}` and `{changes['end']}` can't both end one answer"
                    raise _refused(message)
                changes[field] = value
    return replace(base, **changes) if changes else base


def header_words(value: str) -> list[str]:
    """Return the words of an ``x-simulate`` header: comma or white space between them."""
    return re.split(r"[,\s]+", value.strip())


def _change(text: str) -> dict[str, Any]:
    match = _WORD.fullmatch(text)
    name = match[1] if match else re.split(r"[^a-z]", text)[0]
    name = ALIASES.get(name, name)
    word = WORDS.get(name)
    if word is None or match is None:
        known = [*WORDS, *ALIASES]
        message = f"no scenario word `{text}`{near(name or text, known)}"
        raise _refused(message)
    return {**dict(word.sets), **_valued(text, word, match[2], match[3])}


def _valued(text: str, word: Word, number: str | None, suffix: str | None) -> dict[str, Any]:
    if word.unit == "flag":
        if number or suffix:
            message = f"scenario word `{text}`: `{word.name}` takes no value"
            raise _refused(message)
        return {}
    if number is None:
        if word.default is None and not word.optional:
            message = f"scenario word `{text}` needs a value, such as `{word.example}`"
            raise _refused(message)
        return {word.field: word.default}
    if suffix not in _SUFFIXES[word.unit]:
        message = f"scenario word `{text}`: `{suffix}` is no unit of `{word.name}`"
        raise _refused(message)
    value = float(number) * _SUFFIXES[word.unit][suffix]
    if not word.low <= value <= word.high:
        message = f"scenario word `{text}`: `{word.name}` goes from {word.low:g} to {word.high:g}"
        raise _refused(message)
    return {word.field: _stored(word.unit, value)}


def _stored(unit: Unit, value: float) -> float | int:
    match unit:
        case "ms":
            return round(value * 1e6)
        case "percent":
            return value
        case _:
            return int(value)


def _refused(message: str) -> RequestRefused:
    return RequestRefused(400, "unknown_scenario", f"{message} (docs/simulator.md lists the words)")
