"""How one event is spelled as lines, in the way a scenario asks for. Pure."""

from bench.simulator.scenario import Scenario

_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}


class Framing:
    """Spells the events of one answer: line ends, comments, names, several data lines."""

    def __init__(self, scenario: Scenario, *, named: bool, ping: bytes = b"{}") -> None:
        """Encode what all events share.

        Args:
            scenario: Spelling: line ends, comments, pings.
            named: Events have names, as the protocol or the scenario wants it.
            ping: Data of a keep-alive event.
        """
        self._number = 0
        self._named = named
        self._numbered = scenario.named
        self._multiline = scenario.multiline
        self._end = _LINE_ENDS[scenario.line_end]
        self._data = b"data: " if scenario.space else b"data:"
        before = b": simulated" + self._end * 2 if scenario.comments else b""
        if scenario.pings:
            before += b"event: ping" + self._end + self._data + ping + self._end * 2
        self._before = before
        self._is_simple = not (self._named or self._multiline)
        self._start, self._stop = before + self._data, self._end * 2

    def event(self, text: bytes, name: bytes = b"chunk") -> bytes:
        """Return one event with ``text`` as its data."""
        if self._is_simple:
            return self._start + text + self._stop
        end, data = self._end, self._data
        if self._multiline:
            text = text.replace(b',"', b"," + end + data + b'"', 1)
        if not self._named:
            return self._start + text + self._stop
        number = [b"id: %d" % self._number] if self._numbered else []
        self._number += 1
        return self._before + end.join((b"event: " + name, data + text, *number, b"", b""))
