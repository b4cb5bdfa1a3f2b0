"""Every word of a scenario: its meaning, bounds and the field it sets. Data, no code paths."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Unit = Literal["flag", "ms", "count", "bytes", "percent", "seconds"]

_HOUR_MS = 3_600_000
_MOST_TOKENS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word. A flag sets ``sets``; a word with a value also sets ``field`` to it."""

    name: str
    help: str
    unit: Unit = "flag"
    field: str = ""
    default: float | None = None
    """Used when the value is left out; in the field's own unit."""
    optional: bool = False
    """The value may be left out and then is ``None``."""
    low: float = 0
    high: float = _MOST_TOKENS
    """Bounds, in the unit as typed (milliseconds for times)."""
    sets: tuple[tuple[str, Any], ...] = ()

    @property
    def example(self) -> str:
        """The word with a likely value."""
        return self.name if self.unit == "flag" else f"{self.name}{max(5, int(self.low))}"


def _flag(name: str, text: str, **sets: object) -> Word:
    return Word(name=name, help=text, sets=tuple(sets.items()))


def _time(name: str, target: str, text: str) -> Word:
    return Word(name=name, help=text, unit="ms", field=target, high=_HOUR_MS)


def _count(name: str, target: str, text: str, low: int = 1, **sets: object) -> Word:
    return Word(name=name, help=text, unit="count", field=target, low=low, sets=tuple(sets.items()))


def _percent(name: str, target: str, text: str) -> Word:
    return Word(name=name, help=text, unit="percent", field=target, high=100)


TIMING = (
    _time("ttft", "ttft_ns", "first token this long after the request was read"),
    _time("itl", "itl_ns", "gap between tokens"),
    _time("jitter", "jitter_ns", "each token earlier or later by up to this much, seeded"),
    _time("headers", "headers_ns", "response headers this long after the request was read"),
    _flag("lateheaders", "headers in one write with the first event", late_headers=True),
    _count("pause", "pause_at", "after this many tokens silence, for `pausefor`", low=0),
    _time("pausefor", "pause_ns", "how long `pause` is silent before going on"),
    _time("linger", "linger_ns", "last HTTP chunk this long after the last event"),
)

SHAPE = (
    _count("n", "tokens", "so many tokens of filler text in place of an answer", low=0),
    _count("per", "tokens_per_event", "tokens in one event"),
    _count("coalesce", "events_per_write", "events in one write"),
    _flag("hold", "the whole stream in one write at its end", hold=True),
    Word(
        name="buffer",
        help="events held until this many bytes are full",
        unit="bytes",
        field="buffer_bytes",
        default=16_384,
        low=1,
        high=16_777_216,
    ),
    Word(
        name="split",
        help="each write cut into pieces of this many bytes",
        unit="bytes",
        field="split_bytes",
        default=7,
        low=1,
        high=1_048_576,
    ),
)

ANSWER = (
    _count(
        "reasoning",
        "reasoning_tokens",
        "so many reasoning tokens first, in `delta.reasoning`",
        reasoning_field="reasoning",
    ),
    _count(
        "reasoningcontent",
        "reasoning_tokens",
        "the same in `delta.reasoning_content`",
        reasoning_field="reasoning_content",
    ),
    _count(
        "hiddenreasoning",
        "reasoning_tokens",
        "so many reasoning tokens billed and waited for, none shown",
        reasoning_field="hidden",
    ),
    Word(
        name="tools",
        help="so many tool calls, of the first tools the request offers",
        unit="count",
        field="tool_calls",
        default=1,
        low=1,
        high=16,
    ),
    _count("toolpieces", "tool_pieces", "pieces that the arguments of one call arrive in"),
    _flag("empty", "no content at all, finish reason `stop`", empty=True),
    _flag("unicode", "filler text of two- to four-byte characters", unicode=True),
    _flag("length", "finish reason `length`", finish_reason="length"),
    _flag("filtered", "finish reason `content_filter`", finish_reason="content_filter"),
    _flag("nofinish", "no finish reason, yet `[DONE]`", no_finish=True),
    _percent("right", "right_percent", "share of prompts that get the answer book's right answer"),
)

AGENTS = (
    _flag(
        "perfect", "reads, makes the right change, runs the tests, says it is done", agent="perfect"
    ),
    _flag("sloppy", "makes a plausible wrong change and runs no test", agent="sloppy"),
    _flag(
        "stubborn", "makes the same wrong change again and again, then gives up", agent="stubborn"
    ),
    _flag(
        "malformed",
        "ten broken or forbidden calls at once, then works as it should",
        agent="malformed",
    ),
    _flag("endless", "searches and never ends", agent="endless"),
    _flag(
        "cheating", "overwrites the tests, ends Python early and says they pass", agent="cheating"
    ),
)

FAULTS = (
    Word(
        name="status",
        help="this HTTP status with an error body",
        unit="count",
        field="status",
        low=400,
        high=599,
    ),
    Word(
        name="retryafter",
        help="seconds in `retry-after` of an error answer",
        unit="seconds",
        field="retry_after_s",
        default=1,
        high=86_400,
    ),
    _flag("html", "the error body is a page of HTML", html=True),
    _percent("failing", "failing_percent", "share of prompts that get a 503"),
    _flag("hang", "not one byte is sent, the connection stays open", hang=True),
    Word(
        name="reset",
        help="connection reset after this many tokens; without a number before the headers",
        unit="count",
        field="end_at",
        optional=True,
        sets=(("end", "reset"),),
    ),
    _count("cut", "end_at", "connection closed after this many tokens", low=0, end="cut"),
    _count("eof", "end_at", "clean end after this many tokens, no finish", low=0, end="eof"),
    _count("error", "end_at", "error event after this many tokens, then end", low=0, end="error"),
    _count("stall", "end_at", "silence for good after this many tokens", low=0, end="stall"),
    _count("badjson", "bad_json_at", "an event that is no JSON after this many tokens", low=0),
)

DIALECT = (
    _flag("earlyrole", "a delta with the role alone, with the headers", role="early"),
    _flag("norole", "no delta with the role alone", role="none"),
    _flag("allroles", "the role in every delta", role="all"),
    _flag("nodone", "no `[DONE]`", done_lines=0),
    _flag("doubledone", "`[DONE]` twice", done_lines=2),
    _flag("usage", "usage even when it was not asked for", usage="always"),
    _flag("nousage", "no usage even when it was asked for", usage="never"),
    _flag("doubleusage", "usage in two events", usage="twice"),
    _flag("finishusage", "usage in the event that has the finish reason", usage="finish"),
    _flag("crlf", "lines end in CR LF", line_end="crlf"),
    _flag("cr", "lines end in CR", line_end="cr"),
    _flag("nospace", "no space after `data:`", space=False),
    _flag("comments", "a comment line before each event", comments=True),
    _flag("pings", "`event: ping` with empty data before each event", pings=True),
    _flag("named", "`event:` and `id:` lines, as LLMGateway sends them", named=True),
    _flag("multiline", "each JSON text in two `data:` lines", multiline=True),
    _flag("json", "one JSON body although a stream was asked for", as_json=True),
    _flag("gzip", "compressed body", gzip=True),
)

GATEWAY = (
    _count("rate", "rate_per_s", "429 beyond this many requests within a second"),
    _flag("fallback", "provider down: another one answers, or 503 if forbidden", fallback=True),
    _flag("cache", "a prompt asked before is answered from a cache, unless bypassed", cache=True),
    Word(
        name="promptcached",
        help="share of the prompt's tokens reported as cached",
        unit="percent",
        field="cached_prompt_percent",
        default=50,
        high=100,
    ),
)

SECTIONS: Mapping[str, tuple[Word, ...]] = {
    "When": TIMING,
    "How it is cut into writes": SHAPE,
    "What is answered": ANSWER,
    "Who works on a coding task": AGENTS,
    "What goes wrong": FAULTS,
    "How the stream is spelt": DIALECT,
    "What the gateway does": GATEWAY,
}
WORDS: Mapping[str, Word] = {word.name: word for words in SECTIONS.values() for word in words}
ALIASES: Mapping[str, str] = {"tokens": "n", "chunk": "per", "tool": "tools"}
