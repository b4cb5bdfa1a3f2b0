"""How far a run is: one line that a terminal redraws, or a line now and then elsewhere.

Formatting is pure; ``Progress`` writes to the stream it was given and nowhere else. No colour, and
of terminal control only the carriage return and "erase line".
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, Protocol

from bench.model.record import Value
from bench.model.trial import Trial
from bench.money import Purse
from bench.ports import Clock

Mode = Literal["bar", "lines", "quiet"]

BAR_INTERVAL_NS = 250_000_000
"""At most four redraws a second: more would show in the measurement."""
LINE_INTERVAL_NS = 30_000_000_000
_ERASE = "\r\x1b[K"
_BAR_CELLS = 20
_MINUTE_S = 60
_HOUR_S = 3600


class Writable(Protocol):
    """A text stream."""

    def write(self, text: str, /) -> object:
        """Write ``text``."""
        ...

    def flush(self) -> object:
        """Hand on what was written."""
        ...


class Tally(Value, frozen=True, kw_only=True):
    """Where the run is."""

    planned: int | None
    """Trials that this process is to ask, warm-ups included."""
    done: int = 0
    failed: int = 0
    spent_usd: float | None = 0.0
    """``None`` = some cost is unknown."""
    elapsed_s: float = 0.0
    waits: tuple[tuple[str, int], ...] = ()
    """What requests wait for before they are sent again, and how many do so now."""


def tally_text(tally: Tally) -> str:
    """Return trials, failures, who waits, spend, rate and time left in words."""
    of = "" if tally.planned is None else f"/{tally.planned}"
    parts = [f"{tally.done}{of} trials", f"{tally.failed} failed"]
    parts += [f"{count} waiting {what_for}" for what_for, count in tally.waits if count]
    parts.append("cost unknown" if tally.spent_usd is None else f"${tally.spent_usd:.4f}")
    if tally.done and tally.elapsed_s > 0:
        rate = tally.done / tally.elapsed_s
        parts.append(f"{rate:.1f}/s")
        if tally.planned is None:
            return ", ".join(parts)
        parts.append(f"{duration_text((tally.planned - tally.done) / rate)} left")
    return ", ".join(parts)


def bar_text(tally: Tally, *, width: int) -> str:
    """Return one line of at most ``width - 1`` characters: terminals wrap at the last column."""
    if tally.planned is None:
        return tally_text(tally)[: max(width - 1, 0)]
    share = tally.done / tally.planned if tally.planned else 1.0
    filled = int(share * _BAR_CELLS)
    bar = "#" * filled + "-" * (_BAR_CELLS - filled)
    text = tally_text(tally)
    line = f"[{bar}] {text}"
    return (line if len(line) < width else text)[: max(width - 1, 0)]


def duration_text(seconds: float) -> str:
    """Return ``8s``, ``1m20s``, ``2h05m``."""
    whole = max(round(seconds), 0)
    if whole < _MINUTE_S:
        return f"{whole}s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S}m{whole % _MINUTE_S:02d}s"
    return f"{whole // _HOUR_S}h{whole % _HOUR_S // _MINUTE_S:02d}m"


class Progress:
    """Shows the tally as trials end and time passes.

    Args:
        stream: Usually stderr.
        mode: ``bar`` for a terminal, ``lines`` elsewhere, ``quiet`` for nothing.
        width: Columns of the terminal.
        clock: For the pauses between two redraws.
    """

    def __init__(self, stream: Writable, mode: Mode, *, width: int, clock: Clock) -> None:
        self._stream = stream
        self._mode = mode
        self._width = width
        self._clock = clock
        self._tally = Tally(planned=0)
        self._began_ns = clock.now_ns()
        self._shown_ns = self._began_ns
        self._is_drawn = False
        self._waits: Mapping[str, int] = {}

    @property
    def interval_s(self) -> float:
        """Return how often ``tick`` is worth a call, in seconds."""
        return 0.5 if self._mode == "bar" else 5.0

    def begin(
        self,
        planned: int | None,
        *,
        spent_usd: float | None,
        waits: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Start counting.

        Args:
            planned: Trials to come; ``None`` = time decides.
            spent_usd: What an interrupted run had spent already; ``None`` = unknown.
            waits: What requests wait for, and how many: looked at whenever something is shown.
        """
        self._waits = waits
        self._tally = Tally(planned=planned, spent_usd=spent_usd)
        self._began_ns = self._shown_ns = self._clock.now_ns()

    def trial_done(self, trial: Trial, purse: Purse) -> None:
        """Count a recorded trial and show it, unless that was done a moment ago."""
        before = self._tally
        self._tally = Tally(
            planned=before.planned,
            done=before.done + 1,
            failed=before.failed + (trial.response.error is not None),
            spent_usd=None if purse.unknown else purse.spent_usd,
        )
        self.tick()

    def trials_counted(self, done: int, failed: int, purse: Purse) -> None:
        """Count trials that others recorded, and show them, unless that was done a moment ago."""
        before = self._tally
        self._tally = Tally(
            planned=before.planned,
            done=before.done + done,
            failed=before.failed + failed,
            spent_usd=None if purse.unknown else purse.spent_usd,
        )
        self.tick()

    def tell(self, text: str) -> None:
        """Show a line of its own at once, unless nothing is to be shown."""
        if self._mode != "quiet":
            self.answer(text)

    def answer(self, text: str) -> None:
        """Show a line though progress is not wanted: a person did something and waits for it."""
        self.close()
        self._write(f"{text}\n")

    def tick(self) -> None:
        """Show how far the run is, if it is time again."""
        now_ns = self._clock.now_ns()
        pause_ns = BAR_INTERVAL_NS if self._mode == "bar" else LINE_INTERVAL_NS
        if self._mode == "quiet" or now_ns - self._shown_ns < pause_ns:
            return
        self._shown_ns = now_ns
        counted = self._tally
        tally = Tally(
            planned=counted.planned,
            done=counted.done,
            failed=counted.failed,
            spent_usd=counted.spent_usd,
            elapsed_s=(now_ns - self._began_ns) / 1e9,
            waits=tuple(self._waits.items()),
        )
        if self._mode == "bar":
            self._is_drawn = True
            self._write(f"{_ERASE}{bar_text(tally, width=self._width)}")
        else:
            self._write(f"{tally_text(tally)}\n")

    def close(self) -> None:
        """Clear the line, so that what follows begins on an empty one."""
        if self._is_drawn:
            self._is_drawn = False
            self._write(_ERASE)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            # Whoever read the progress went away; the run is worth more than its display.
            self._mode = "quiet"
