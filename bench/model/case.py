"""One task: what it asks, how often, and how an answer is judged."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from bench.model.record import Record
from bench.model.trial import Answer, Evaluation

CaseKind = Literal["quality", "performance", "agentic"]
Difficulty = Literal["easy", "medium", "hard", "expert"]
Variant = Literal["canonical", "paraphrase", "distractor"]


class Message(Record, frozen=True, kw_only=True):
    """One chat message. ``tool_calls`` and ``tool_call_id`` are in the wire shape of chat completions."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: tuple[dict[str, Any], ...] | None = None
    tool_call_id: str | None = None
    opaque: tuple[dict[str, Any], ...] = ()
    """Of an assistant's message: ``opaque`` of the answer that it repeats, unchanged.

    Reasoning that its provider wants back with the results of tools (signed, encrypted, or in a
    field of its own), in the shape of the wire protocol in use, which alone reads it. Where parts
    are ordered, texts and tool calls among them are empty places: ``content`` and ``tool_calls``
    fill them.
    """


class ChatRequest(Record, frozen=True, kw_only=True):
    """What a case asks, independent of the wire protocol. ``None`` = the field is not sent."""

    messages: tuple[Message, ...]
    max_tokens: int | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    tools: tuple[dict[str, Any], ...] | None = None
    """Function tools in the shape of chat completions."""
    tool_choice: Any = None
    extra: dict[str, Any] = {}
    """Further body fields; the named ones win over them."""


class CaseInfo(Record, frozen=True, kw_only=True):
    """The descriptive half of a case: what result documents hold."""

    id: str
    name: str
    kind: CaseKind
    category: str | None
    dimension: str | None
    difficulty: Difficulty | None
    """``None`` in user cases, external suites and documents of the seed system that don't say."""
    variant_of: str | None = None
    variant: Variant = "canonical"
    seed_group: str | None = None
    """Cases of one group get the same seed, hence the same instance, in the same run."""
    runs: int
    warmup_runs: int = 0
    concurrency: int = 1
    seeds: tuple[int, ...] = ()
    """Of the measured runs, in order and over again; empty = derived from the run's base seed."""
    is_load_point: bool = False
    """Its runs keep ``concurrency`` requests in flight and stay together: a point of the load curve."""
    text_hash: str | None
    """SHA-256 over the case's fixed text and generator version: differs when the case changed.
    ``None`` only in documents of the seed system."""
    description: str | None = None
    """One sentence: what the case measures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One concrete task: a case at one seed."""

    request: ChatRequest
    expected: str | None
    """The right final answer as text, computed by a solver; ``None`` where nothing is scored."""
    evaluate: Callable[[Answer], Evaluation] | None
    """``None`` for performance cases without a verdict."""
    book: Answer | None = None
    """A right answer in full, for the simulator's answer book."""
    book_wrong: Answer | None = None
    """A plausible wrong answer in full, for the simulator's answer book."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A task that can be built for any seed."""

    info: CaseInfo
    build: Callable[[int], Instance]
    """Seed → instance. Pure: the same seed gives the same instance on every machine."""
    description: str | None = None
    """One sentence for listings: what the case measures."""


def described(case: Case) -> CaseInfo:
    """Return the descriptive half with the sentence."""
    return msgspec.structs.replace(case.info, description=case.description)
