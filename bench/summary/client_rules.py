"""Which figures of a stage this machine, not the gateway, may have made. Rules: docs/load.md.

A limit is held against the figures that it reaches and no others: where the kernel stamped an
arrival, how late this process came to read it is in no time, but it may be in a rate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.load.gates import Quantity
from bench.load.slo import Slo
from bench.model.load import ClientReading, Stage, StageDone
from bench.model.summary import NumericSummary, SketchSummary

MOST_UTILISATION = 0.8
"""Of one event loop; near 1 its reads coalesce and every stamp is late."""
LAG_FLOOR_MS = 2.0
LAG_SHARE = 0.05
"""Of what a figure spans: the median TTFT, the median gap, the median time of generation."""
MOST_LATE = 0.01
STANDSTILL_MS = 100.0
"""One pause of the event loop that no percentile of its lag may show; shorter ones are not told."""
LEAST_OCCUPIED = 0.95
"""Share of a closed loop's places that have a request in flight, over the steady part."""

_SINCE_SENDING: tuple[Quantity, ...] = ("ttft", "firstToken", "total")
_RATES: tuple[Quantity, ...] = ("rate", "goodput")
_WORDS: Mapping[Quantity, str] = {
    "ttft": "TTFT",
    "firstToken": "first token",
    "itl": "gaps between tokens",
    "tpot": "time per token",
    "total": "whole answers",
    "speed": "tokens/s of a stream",
    "rate": "answers/s",
    "goodput": "goodput",
    "slo": "shares inside the objectives",
    "success": "success",
    "errors": "errors",
}
EVERY: tuple[Quantity, ...] = tuple(_WORDS)
"""What a stage measures."""
TIMES: tuple[Quantity, ...] = (*_SINCE_SENDING, "itl", "tpot", "speed")
_OF_SLO: Mapping[str, Quantity] = {
    "ttft": "ttft",
    "first-token": "firstToken",
    "total": "total",
    "tpot": "tpot",
    "itl": "itl",
    "tokens-per-s": "speed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a stage came to, as far as it says how much lag its figures can stand."""

    ttft: NumericSummary | None = None
    first_token: NumericSummary | None = None
    total: NumericSummary | None = None
    itl: SketchSummary | None = None
    send_lag: NumericSummary | None = None
    """On the connections whose times count."""
    occupied: float | None = None
    """Share of a closed loop's places with a request in flight; ``None`` = no steady part."""
    slos: Sequence[Slo] = ()
    is_median: bool = False
    """Only medians are read: what happens to one request in a hundred does not reach them."""

    def spans(self) -> dict[Quantity, float]:
        """Return the median time, in milliseconds, that each measured figure spans."""
        p50s = (self.ttft, self.first_token, self.total)
        found: dict[Quantity, float] = {
            name: one.p50 for name, one in zip(_SINCE_SENDING, p50s, strict=True) if one is not None
        }
        if self.itl is not None:
            found["itl"] = self.itl.p50
        if self.itl is not None and self.ttft is not None and self.total is not None:
            # Both are means over the whole generation: a late stamp at its end is all they show.
            found["tpot"] = found["speed"] = max(0.0, self.total.p50 - self.ttft.p50)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLimit:
    """One way in which this client may have been the limit."""

    why: str
    """A clause with values."""
    spoils: tuple[Quantity, ...] = field(default=EVERY)
    """The figures that it reaches, in the order of ``EVERY``."""

    @property
    def text(self) -> str:
        """Return the clause and what it spoils."""
        return f"{self.why}, which spoils {figures(self.spoils)}"


def figures(spoiled: Sequence[str]) -> str:
    """Return spoiled figures in words: ``every figure``, ``answers/s and goodput``."""
    names = [words for quantity, words in _WORDS.items() if quantity in spoiled]
    if len(names) == len(_WORDS):
        return "every figure"
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def told(limits: Sequence[ClientLimit]) -> tuple[str, ...]:
    """Return the limits as clauses, each naming what it spoils unless that was said before."""
    clauses, said = [], set[Quantity]()
    for limit in limits:
        clauses.append(limit.why if said.issuperset(limit.spoils) else limit.text)
        said |= set(limit.spoils)
    return tuple(clauses)


def spoiled_by(limits: Sequence[ClientLimit]) -> tuple[Quantity, ...]:
    """Return every figure that one of the limits reaches, in the order of ``EVERY``."""
    return tuple(one for one in EVERY if any(one in limit.spoils for limit in limits))


def client_limits(done: StageDone, stage: Stage, seen: Seen) -> tuple[ClientLimit, ...]:
    """Return where this client may have been a stage's limit; empty: nowhere.

    Args:
        done: With the client's reading.
        stage: What was asked for.
        seen: What it came to.
    """
    found = (
        *_of_the_load(done, stage),
        *_late_reads(done.client, seen, is_closed=stage.kind == "closed"),
        *_late_writes(done.client, seen),
        *_standstill(done, seen, is_closed=stage.kind == "closed"),
        *_empty_places(done, seen),
    )
    return tuple(limit for limit in found if limit.spoils)


def _of_the_load(done: StageDone, stage: Stage) -> Iterator[ClientLimit]:
    """Yield what made another load of the one that was asked for: it reaches every figure."""
    busy = done.client.utilisation_max
    if busy is not None and busy > MOST_UTILISATION:
        most = MOST_UTILISATION
        why = (
            f"this client's event loop was {busy:.0%} busy in one second (at most {most:.0%} is "
            "fine)"
        )
        yield ClientLimit(why=why)
    if done.connections is not None:
        why = f"this machine limited connections to {done.connections:,}"
        yield ClientLimit(why=f"{why}, fewer than were asked for")
    if stage.concurrency is None and done.late > MOST_LATE * max(1, done.sent):
        why = f"this client sent {done.late:,} of {done.sent:,} requests more than 10 ms late"
        yield ClientLimit(why=why)


def _late_reads(reading: ClientReading, seen: Seen, *, is_closed: bool) -> Iterator[ClientLimit]:
    """Yield what late reading spoils: every time that this process stamped.

    A stamp of the kernel is late only where one read took several chunks, since it is the last
    one's: when reads wait longer than the gap between two chunks. The last byte's is then right.
    """
    lag, which = reading.receive_lag_p99_ms, "hundredth"
    if seen.is_median and reading.receive_lag_p50_ms is not None:
        lag, which = reading.receive_lag_p50_ms, "second"
    lag = reading.loop_lag_p99_ms if lag is None else lag
    if lag is None:
        return
    spoiled = _beyond(lag, seen.spans())
    if reading.stamps == "kernel":
        takes_several = seen.itl is not None and lag > seen.itl.p50
        spoiled = spoiled - {"total"} if takes_several else set()
    elif is_closed and "total" in spoiled:
        spoiled |= set(_RATES)  # the next request of a place is as late as the end before it
    why = f"every {which} read waited {lag:.1f} ms or more for this client"
    yield ClientLimit(why=why, spoils=_ordered(spoiled, seen))


def _late_writes(reading: ClientReading, seen: Seen) -> Iterator[ClientLimit]:
    """Yield what a request spoils that waited in this process before it was written.

    Only while the loop was late too: a request may also wait for a gateway that reads slowly.
    """
    if seen.send_lag is None or reading.loop_lag_p99_ms is None:
        return
    tail, which = _tail(seen.send_lag, is_median=seen.is_median)
    lag = min(tail, reading.loop_lag_p99_ms)
    spans = {name: span for name, span in seen.spans().items() if name in _SINCE_SENDING}
    why = f"every {which} request waited {tail:.1f} ms or more in this client before it was sent"
    yield ClientLimit(why=why, spoils=_ordered(_beyond(lag, spans), seen))


def _standstill(done: StageDone, seen: Seen, *, is_closed: bool) -> Iterator[ClientLimit]:
    """Yield what one long pause spoils: no stream was read in it, so each has a gap of that length.

    It is in the tail of what lasts shorter than it where it took a hundredth of the stage, and in
    the objectives where a hundredth of the requests were under way.
    """
    pause, span = done.client.loop_lag_max_ms, done.ended_offset_ms - done.began_offset_ms
    if pause is None or pause < STANDSTILL_MS or span <= 0 or seen.is_median:
        return
    spoiled = set[Quantity]()
    if pause > MOST_LATE * span:
        spoiled |= {"ttft", "firstToken", "itl", *(_RATES if is_closed else ())}
        spoiled |= set() if done.client.stamps == "kernel" else set(TIMES)
    lasts = 0.0 if seen.total is None else seen.total.p50
    if pause + lasts > MOST_LATE * span and any(_is_passed(slo, pause) for slo in seen.slos):
        spoiled |= {"slo", "goodput"}
    why = f"this client read nothing for {pause:,.0f} ms at a stretch"
    yield ClientLimit(why=why, spoils=_ordered(spoiled, seen))


def _is_passed(slo: Slo, pause_ms: float) -> bool:
    """Say whether such a pause alone takes a request out of an objective of its gaps."""
    return slo.metric == "itl" and slo.statistic != "mean" and pause_ms > slo.bound


def _tail(lags: NumericSummary, *, is_median: bool) -> tuple[float, str]:
    """Return the percentile that these requests can show, or the median, and whose it is."""
    if is_median:
        return lags.p50, "second"
    return (lags.p90, "tenth") if lags.p99 is None else (lags.p99, "hundredth")


def _empty_places(done: StageDone, seen: Seen) -> Iterator[ClientLimit]:
    """Yield that a closed loop had fewer in flight: less was asked, no answer came later for it.

    Not where money ran out: places then wait for the bills of others, not for this process.
    """
    if done.reason == "max_cost":
        return
    if seen.occupied is not None and seen.occupied < LEAST_OCCUPIED:
        why = (
            f"places stood empty for {1 - seen.occupied:.0%} of the time, between two requests "
            f"(at most {1 - LEAST_OCCUPIED:.0%} is fine)"
        )
        yield ClientLimit(why=why, spoils=_RATES)


def _beyond(lag_ms: float, spans: Mapping[Quantity, float]) -> set[Quantity]:
    return {name for name, span in spans.items() if lag_ms > max(LAG_FLOOR_MS, LAG_SHARE * span)}


def _ordered(spoiled: set[Quantity], seen: Seen) -> tuple[Quantity, ...]:
    """Return the figures with what is counted from them: who is inside the objectives."""
    if any(_OF_SLO[slo.metric] in spoiled for slo in seen.slos):
        spoiled = spoiled | {"slo", "goodput"}
    return tuple(one for one in EVERY if one in spoiled)
