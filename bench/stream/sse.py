"""Bytes of a ``text/event-stream`` body to events, whatever way the network cut them.

Follows the parsing rules of https://html.spec.whatwg.org/multipage/server-sent-events.html, with
one leniency: an event without its blank line at the end of the body is handed out by ``flush``.
Lines end with LF, CRLF or CR; data stays bytes, so a cut inside a character does not matter.
"""

from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_BETWEEN = b"\n\ndata: "


class SseEvent(NamedTuple):
    """One event: its ``event:`` name (``None`` = unnamed) and its ``data:`` lines, joined by LF.

    A tuple, because making one is on the path of every token: a third of a frozen dataclass.
    """

    name: bytes | None
    data: bytes


class SseParser:
    """Incremental parser; comments, ``id:`` and ``retry:`` lines are counted or dropped, not events."""

    __slots__ = ("_data", "_name", "_partial", "_seen_line", "_skip_lf", "comments")

    def __init__(self) -> None:
        self.comments = 0
        """Comment lines so far: the keep-alive signals of a silent stream."""
        self._data: list[bytes] = []
        self._name: bytes | None = None
        self._partial: list[bytes] = []
        self._seen_line = False
        self._skip_lf = False

    def feed(self, data: bytes) -> list[SseEvent]:
        """Take the next bytes of the body; return the events that they complete, in order."""
        if self._skip_lf and data:
            self._skip_lf = False
            if data[:1] == b"\n":
                data = data[1:]
        if b"\r" in data:
            # A CR at the very end may be half of a CRLF: it ends the line now, its LF is skipped.
            self._skip_lf = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in data:
            if data:
                self._partial.append(data)
            return []
        if self._partial:
            self._partial.append(data)
            data = b"".join(self._partial)
            self._partial.clear()
        lines = data.split(b"\n")
        rest = lines.pop()
        if rest:
            self._partial.append(rest)
        return self._take(lines)

    def plain(self, data: bytes, *, line_ends: int) -> list[bytes] | None:
        """Return the data of whole events if ``data`` holds nothing else.

        Nearly every read of a stream is so: unnamed events of one line each, none of them cut. Taking
        them together is ten times as fast as line by line. ``None``: ``feed`` has to look at it.

        Args:
            data: As for ``feed``.
            line_ends: How many LF are in it.
        """
        if self._partial or self._data or self._skip_lf or self._name is not None:
            return None
        if not (data.startswith(b"data: ") and data.endswith(b"\n\n")):
            return None
        events = data[6:-2].split(_BETWEEN)
        # Each event brings two line ends; any other line would add its own.
        if line_ends != 2 * len(events) or b"\r" in data:
            return None
        self._seen_line = True
        return events

    def flush(self) -> list[SseEvent]:
        """Return the event that the end of the body left without its blank line, if there is one."""
        rest = b"".join(self._partial)
        self._partial.clear()
        return self._take([rest, b""] if rest else [b""])

    def _take(self, lines: list[bytes]) -> list[SseEvent]:
        events: list[SseEvent] = []
        if not self._seen_line:
            self._seen_line = True
            lines[0] = lines[0].removeprefix(_BOM)
        for line in lines:
            if not line:
                if self._data:
                    joined = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
                    events.append(SseEvent(self._name, joined))
                    self._data = []
                self._name = None
            elif line.startswith(b"data:"):
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
            else:
                self._field(line)
        return events

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if not name:
            self.comments += 1
        elif name == b"event":
            self._name = value.removeprefix(b" ") or None
        elif name == b"data":
            self._data.append(b"")
