"""Reads one response body, whatever its protocol: bytes to events, and what came of them.

Whether a body is a stream is told by its first character. What the events mean says a ``Reader``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from bench.model.record import Value
from bench.model.trial import Usage
from bench.stream.deltas import Read
from bench.stream.sse import SseEvent, SseParser
from bench.wire.draft import Draft
from bench.wire.faults import excerpt, message_of
from bench.wire.nesting import is_too_deep
from bench.wire.protocol import Decoded, Fault

_BOM: Final = b"\xef\xbb\xbf"
_WHOLE_BODY_STARTS: Final = b'{[<"'
_SAMPLE_BYTES: Final = 512
_DONE: Final = b"[DONE]"
_LAST_EVENTS: Final = 3
_DONE_BYTES: Final = 16
"""No longer event is looked at for the end mark."""
_KEEP_ALIVE_NAMES: Final = (b"ping", b"heartbeat", b"keepalive", b"keep-alive")


class Rest(Value, frozen=True, kw_only=True):
    """What a protocol says at the end of an answer besides its draft."""

    usage: Usage | None
    fields: Mapping[str, Any]
    opaque: tuple[dict[str, Any], ...]


class Reader(Protocol):
    """What the events of one protocol mean; it fills the draft that it was made with."""

    def event(self, event: SseEvent) -> None:
        """Take one event.

        Raises:
            msgspec.DecodeError: Its data is not JSON.
        """
        ...

    def pieces(self, events: Sequence[bytes]) -> list[str] | None:
        """Take the data of unnamed events, of one line each, if each is a piece of content and no more.

        Returns:
            Their content, which is left to the caller; ``None`` = ``event`` has to take them.
        """
        ...

    def whole(self, body: bytes) -> None:
        """Take an answer in one piece.

        Raises:
            msgspec.DecodeError: It is not a JSON object.
        """
        ...

    def rest(self) -> Rest:
        """Return the rest, once everything was taken."""
        ...


class AnswerDecoder:
    """A ``BodyDecoder`` for any protocol."""

    def __init__(self, reader: Callable[[Draft], Reader]) -> None:
        self._draft = draft = Draft()
        self._reader = reader(draft)
        self._is_stream = False
        """Known to be one."""
        self._lead = b""
        self._sse = SseParser()
        self._whole = bytearray()
        self._sample = b""
        self._event_count = 0
        self._first_event_ns: int | None = None

    @property
    def done_ns(self) -> int | None:
        """Stamp of the end mark; see ``BodyDecoder``."""
        return self._draft.done_ns

    def feed(self, read: Read) -> None:
        """Take what one read brought; see ``BodyDecoder``."""
        if read.body and not self._together((read,)):
            self._draft.read = read
            self._take(read.body)

    def feed_all(self, reads: Sequence[Read]) -> None:
        """Take what several reads brought; see ``BodyDecoder``."""
        if len(reads) <= 1 or not self._is_stream:
            for read in reads:
                self.feed(read)
        elif not self._together(reads):
            # Whatever is no piece of content is found by halving: nearly always the last one.
            middle = len(reads) // 2
            self.feed_all(reads[:middle])
            self.feed_all(reads[middle:])

    def finish(self) -> Decoded:
        """Say what the body told, an event without its blank line included."""
        draft = self._draft
        if draft.is_json:
            self._finish_json(bytes(self._whole).removeprefix(_BOM))
        else:
            self._finish_stream()
        rest = self._reader.rest()
        is_same = draft.provider_reason == draft.finish_reason
        return Decoded(
            content="".join(draft.content),
            reasoning="".join(draft.reasoning),
            tool_calls=draft.calls.calls(),
            opaque=rest.opaque,
            finish_reason=draft.finish_reason,
            provider_finish_reason=None if is_same else draft.provider_reason,
            response_model=draft.model,
            system_fingerprint=draft.fingerprint,
            usage=rest.usage,
            deltas=draft.deltas,
            first_event_ns=self._first_event_ns,
            event_count=self._event_count,
            is_json=draft.is_json,
            fields=rest.fields,
            fault=draft.fault,
        )

    def _take(self, data: bytes) -> None:
        if self._is_stream:
            self._stream(data)
        elif self._draft.is_json:
            self._whole.extend(data)
        else:
            self._sniff(data)

    def _sniff(self, data: bytes) -> None:
        self._lead += data
        if _BOM.startswith(self._lead):
            return
        start = self._lead.removeprefix(_BOM).lstrip()[:1]
        if not start and len(self._lead) < _SAMPLE_BYTES:
            return
        self._draft.is_json = is_json = bool(start) and start in _WHOLE_BODY_STARTS
        self._is_stream = not is_json
        lead = msgspec.structs.replace(self._draft.read, body=self._lead)
        if not self._together((lead,)):
            self._take(self._lead)

    def _stream(self, data: bytes) -> None:
        if not self._event_count and len(self._sample) < _SAMPLE_BYTES:
            self._sample += data[:_SAMPLE_BYTES]
        for event in self._sse.feed(data):
            self._event(event)

    def _together(self, reads: Sequence[Read]) -> bool:
        """Take the events of reads together; return whether that was possible."""
        if not self._is_stream:
            return False
        bodies = [read.body for read in reads]
        line_ends = [body.count(b"\n") for body in bodies]
        events = self._sse.plain(b"".join(bodies), line_ends=sum(line_ends))
        if events is None:
            return False
        ends: list[bytes] = []
        if events[-1] == _DONE:
            # Finish reason and usage stand before the end mark, in one or two events.
            events, ends = events[:-_LAST_EVENTS], events[-_LAST_EVENTS:]
        pieces = self._reader.pieces(events) if events else []
        if pieces is None:
            return False
        bringers = _bringers(reads, line_ends)
        if self._first_event_ns is None:
            self._first_event_ns = bringers[0].at_ns
        self._draft.add_contents(pieces, bringers[: len(pieces)])
        self._event_count += len(pieces)
        for end, self._draft.read in zip(ends, bringers[len(pieces) :], strict=True):
            self._event(SseEvent(None, end))
        return True

    def _event(self, event: SseEvent, *, is_last: bool = False) -> None:
        if self._first_event_ns is None:
            self._first_event_ns = self._draft.read.at_ns
        self._event_count += 1
        data = event.data
        if len(data) < _DONE_BYTES and data.strip() == _DONE:
            self._draft.done()
            return
        try:
            _check_depth(data)
            self._reader.event(event)
        except msgspec.DecodeError as error:
            self._not_json(event, error, is_last=is_last)

    def _not_json(self, event: SseEvent, error: Exception, *, is_last: bool) -> None:
        text = excerpt(event.data.decode("utf-8", "replace"))
        if event.name == b"error":
            self._draft.upstream_failed(text)
        elif text and not is_last and event.name not in _KEEP_ALIVE_NAMES:
            # The last one without its blank line was cut off: the missing finish tells that.
            message = f"an event is not JSON ({error}): {text}"
            self._draft.fail(Fault(code="invalid_stream_json", message=message))

    def _finish_json(self, body: bytes) -> None:
        try:
            _check_depth(body)
            self._reader.whole(body)
        except msgspec.DecodeError:
            self._draft.fail(_not_a_stream(body))

    def _finish_stream(self) -> None:
        for event in self._sse.flush():
            self._event(event, is_last=True)
        if not self._event_count and not self._sse.comments and self._sample.strip():
            self._draft.fail(_not_a_stream(self._sample))


def _bringers(reads: Sequence[Read], line_ends: Sequence[int]) -> Sequence[Read]:
    """Return for each event of plain reads the one that brought its blank line.

    Args:
        reads: In order.
        line_ends: How many LF are in each.
    """
    if line_ends.count(2) == len(reads):
        return reads  # each brought one
    bringers: list[Read] = []
    ends = 0
    for read, count in zip(reads, line_ends, strict=True):
        before, ends = ends, ends + count
        bringers += [read] * (ends // 2 - before // 2)
    return bringers


def _check_depth(data: bytes) -> None:
    if is_too_deep(data):
        raise msgspec.DecodeError("it nests too deeply")


def _not_a_stream(body: bytes) -> Fault:
    message = f"neither a stream nor a JSON answer: {message_of(body) or 'no text'}"
    return Fault(code="invalid_stream_json", message=message)
