"""When each byte of an answer goes out: a pipeline of iterators from tokens to writes. Pure.

Events and writes are msgspec structs: they are made once per token, at a third of a dataclass's cost.
``deltas`` says what happens when, ``ending`` where it breaks off, ``grouped`` which events share a
write. Nothing is computed before it is due, so an endless answer costs nothing in advance.
"""

import random
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from bench.simulator.answers import Reply
from bench.simulator.events import AnswerWriter, EventKind, Tail
from bench.simulator.scenario import Scenario


class Event(msgspec.Struct, frozen=True, gc=False):
    """One event. Times count from the moment the request was read."""

    due_ns: int
    kind: EventKind
    characters: int
    data: bytes
    tokens: int
    """Completion tokens that it brings."""


class Write(msgspec.Struct, frozen=True, gc=False):
    """Bytes that go out together; ``events`` lists what is in them (a piece may hold none)."""

    due_ns: int
    data: bytes
    events: tuple[Event, ...]


class Clock:
    """Due times of tokens: absolute, so that errors do not add up; ascending in spite of jitter."""

    def __init__(self, scenario: Scenario, *, seed: int) -> None:
        self._scenario = scenario
        self._ttft_ns, self._itl_ns = scenario.ttft_ns, scenario.itl_ns
        self._is_even = not scenario.jitter_ns and scenario.pause_at is None
        self._random = random.Random(seed) if scenario.jitter_ns else None
        self._latest_ns = 0
        self.first_ns = self._due_ns(0)

    def due_ns(self, token: int) -> int:
        """Return when an event is due whose first token has this number.

        Args:
            token: From 0, ascending from call to call: each but 0 draws its own jitter.
        """
        if self._is_even:
            return self._ttft_ns + token * self._itl_ns
        return self._due_ns(token) if token else self.first_ns

    def _due_ns(self, token: int) -> int:
        scenario = self._scenario
        due = self._ttft_ns + token * self._itl_ns
        if self._random is not None:
            due += round(self._random.uniform(-1, 1) * scenario.jitter_ns)
        if scenario.pause_at is not None and token >= scenario.pause_at:
            due += scenario.pause_ns
        self._latest_ns = max(due, self._latest_ns)
        return self._latest_ns


def stream_events(
    scenario: Scenario, reply: Reply, writer: AnswerWriter, *, tail: Tail, seed: int
) -> Iterator[Event]:
    """Yield the events of a whole answer, up to where the scenario breaks it off."""
    clock = Clock(scenario, seed=seed)
    bad_at = scenario.bad_json_at
    stop_at = scenario.end_at if scenario.end is not None else None
    sent, last_ns = 0, clock.first_ns
    for event in _opening(scenario, reply, writer, clock):
        if bad_at is not None and sent >= bad_at and event.tokens:
            yield Event(event.due_ns, "bad_json", 0, writer.bad_json(), 0)
            bad_at = None
        if stop_at is not None and sent >= stop_at and event.tokens:
            break
        yield event
        sent, last_ns = sent + event.tokens, event.due_ns
    if scenario.end == "error":
        yield Event(last_ns, "error", 0, writer.error("simulated", "simulated upstream error"), 0)
    elif stop_at is None:
        for kind, data in writer.closing(scenario, tail):
            yield Event(last_ns, kind, 0, data, 0)


def _opening(
    scenario: Scenario, reply: Reply, writer: AnswerWriter, clock: Clock
) -> Iterator[Event]:
    """Yield role, reasoning, content and tool calls."""
    first_ns = clock.first_ns
    if scenario.role in {"first", "early"}:
        role_ns = first_ns if scenario.role == "first" else min(scenario.headers_ns, first_ns)
        yield Event(role_ns, "role", 0, writer.role(), 0)
    size, thoughts = scenario.tokens_per_event, len(reply.reasoning)
    if scenario.reasoning_field != "hidden":
        write = writer.text_writer(scenario.reasoning_field)
        for token, text, count in _batches(reply.reasoning, size, 0):
            yield Event(clock.due_ns(token), "reasoning", len(text), write(text), count)
    write = writer.text_writer("content")
    for token, text, count in _batches(reply.content, size, thoughts):
        yield Event(clock.due_ns(token), "content", len(text), write(text), count)
    yield from _tool_events(scenario, reply, writer, clock, thoughts + len(reply.content))


def _tool_events(
    scenario: Scenario, reply: Reply, writer: AnswerWriter, clock: Clock, token: int
) -> Iterator[Event]:
    for index, call in enumerate(reply.calls):
        start = writer.call_start(index, f"call_sim_{index}", call.name)
        yield Event(clock.due_ns(token), "tool", len(call.name), start, 1)
        token += 1
        for piece in cut_evenly(call.text, scenario.tool_pieces):
            data = writer.call_piece(index, piece)
            yield Event(clock.due_ns(token), "tool", len(piece), data, 1)
            token += 1


def grouped(scenario: Scenario, events: Iterator[Event]) -> Iterator[Write]:
    """Yield the writes that carry ``events``: each its own, or held back as the scenario says.

    A write is due when its last event is.
    """
    if scenario.sends_each_event:
        for event in events:
            yield Write(event.due_ns, event.data, (event,))
        return
    held: list[Event] = []
    size = 0
    for event in events:
        held.append(event)
        size += len(event.data)
        if _is_full(scenario, len(held), size):
            yield from _flushed(scenario, held)
            held, size = [], 0
    if held:
        yield from _flushed(scenario, held)


def _is_full(scenario: Scenario, events: int, size: int) -> bool:
    if scenario.hold:
        return False
    if scenario.buffer_bytes is not None:
        return size >= scenario.buffer_bytes
    return events >= scenario.events_per_write


def _flushed(scenario: Scenario, held: list[Event]) -> Iterator[Write]:
    data = b"".join(event.data for event in held)
    due, events = held[-1].due_ns, tuple(held)
    step = scenario.split_bytes or len(data)
    starts = range(0, len(data), step)
    for start in starts:
        last = start == starts[-1]
        yield Write(due, data[start : start + step], events if last else ())


def gzipped(writes: Iterator[Write]) -> Iterator[Write]:
    """Yield ``writes`` compressed as one gzip stream, flushed at each so that none waits."""
    packer = zlib.compressobj(wbits=31)
    last_ns = 0
    for write in writes:
        last_ns = write.due_ns
        data = packer.compress(write.data) + packer.flush(zlib.Z_SYNC_FLUSH)
        yield Write(last_ns, data, write.events)
    yield Write(last_ns, packer.flush(zlib.Z_FINISH), ())


def _batches(tokens: Sequence[str], size: int, begin: int) -> Iterator[tuple[int, str, int]]:
    """Yield number of the first token, text and token count of each event."""
    if size == 1:
        for token, text in enumerate(tokens, begin):
            yield token, text, 1
        return
    for start in range(0, len(tokens), size):
        batch = tokens[start : start + size]
        yield begin + start, "".join(batch), len(batch)


def cut_evenly(text: str, count: int) -> list[str]:
    """Return ``text`` in up to ``count`` pieces of nearly the same length; none is empty."""
    count = max(1, min(count, len(text)))
    bounds = [len(text) * index // count for index in range(count + 1)]
    return [text[a:b] for a, b in pairwise(bounds) if b > a]
