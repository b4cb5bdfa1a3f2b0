"""What was typed of load → the stages that are run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from bench.errors import UsageFault
from bench.load.levels import Levels, SweepRange
from bench.load.recorded import MOST_DAYS, Trace
from bench.load.rules import Gaps
from bench.model.load import Stage, StopRules, Sweep

FEWEST_REQUESTS = 20
WAVES = 4
"""Requests per place of a closed loop where nobody said how many: filling and draining stay small."""
_MOST_WARMUPS = 64
_SECONDS_PER_DAY = 86_400
MOST_SCHEDULED = 20_000_000
"""160 MB of schedule: a longer one is a typing error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Every option that shapes load, as read."""

    concurrency: Levels | None = None
    rate: Levels | None = None
    sweep: SweepRange | None = None
    trace: Trace | None = None
    gaps: Gaps | None = None
    """``None`` = Poisson."""
    requests: int | None = None
    duration_ms: float | None = None
    warmups: int | None = None
    """``None`` = as many as are in flight, at most 64; in an open loop one."""
    turns: int = 1
    lock_step: bool = False
    stops: StopRules = field(default_factory=StopRules)

    @property
    def is_load(self) -> bool:
        """Whether anything asks for stages; a single ``-c`` alone only widens the cases' blocks."""
        several = self.concurrency is not None and self.concurrency.single is None
        shaped = (self.rate, self.sweep, self.trace, self.requests, self.duration_ms)
        return several or self.turns > 1 or any(part is not None for part in shaped)


def stages(wish: Wish) -> tuple[Stage, ...] | Sweep:
    """Return the stages in the order in which they are run, or the sweep that finds them.

    Raises:
        UsageFault: Options that exclude or need each other.
    """
    _check(wish)
    template = Stage(
        number=1,
        arrival=wish.gaps.arrival if wish.gaps else "poisson",
        burstiness=wish.gaps.burstiness if wish.gaps else 1.0,
        requests=wish.requests,
        duration_ms=wish.duration_ms,
        turns=wish.turns,
        lock_step=wish.lock_step,
        stops=wish.stops,
    )
    if wish.sweep is not None:
        template = msgspec.structs.replace(template, warmups=_warmups(wish, 1))
        sweep = Sweep(by=wish.sweep.by, low=wish.sweep.low, high=wish.sweep.high, template=template)
        ends = [at_level(sweep, level, number=1) for level in (sweep.low, sweep.high)]
        _check_length(ends, "--sweep")
        return sweep
    if wish.trace is not None:
        return (_traced(wish, wish.trace, template),)
    if wish.rate is not None:
        return _open(wish, wish.rate, template)
    return _closed(wish, wish.concurrency or Levels(text="1", values=(1.0,)), template)


def at_level(sweep: Sweep, level: float, *, number: int) -> Stage:
    """Return the stage of a sweep at one level."""
    if sweep.by == "rate":
        return msgspec.structs.replace(sweep.template, number=number, rate_per_second=level)
    count = int(level)
    return msgspec.structs.replace(
        sweep.template,
        number=number,
        concurrency=count,
        warmups=count if sweep.template.warmups else 0,
        requests=_requests(sweep.template.requests, sweep.template.duration_ms, count),
    )


def level_of(stage: Stage) -> float:
    """Return what a stage asks for, as one number: in flight, or per second."""
    if stage.kind == "closed":
        return float(stage.concurrency or 1)
    if stage.kind == "open":
        return stage.rate_per_second or 0.0
    span_s = stage.offsets_ms[-1] / 1e3
    return len(stage.offsets_ms) / span_s if span_s else float(len(stage.offsets_ms))


def label_of(stage: Stage) -> str:
    """Return a stage for people: `8 at once`, `20/s (poisson)`, `1 to 64 at once`."""
    if stage.kind == "trace":
        count = len(stage.offsets_ms)
        return f"trace of {count:,} request{'' if count == 1 else 's'}"
    if stage.kind == "closed":
        begin = f"{stage.concurrency_from} to " if stage.concurrency_from else ""
        return f"{begin}{stage.concurrency} at once"
    begin = f"{_short(stage.rate_from)} to " if stage.rate_from else ""
    shape = f"gamma {stage.burstiness:g}" if stage.arrival == "gamma" else stage.arrival
    return f"{begin}{_short(stage.rate_per_second or 0.0)}/s ({shape})"


def _short(rate: float) -> str:
    return f"{rate:.4g}"


def _check(wish: Wish) -> None:
    said = {
        "--rate": wish.rate is not None,
        "--trace": wish.trace is not None,
        "--sweep": wish.sweep is not None,
    }
    typed = [name for name, is_typed in said.items() if is_typed]
    if len(typed) > 1:
        message = f"`{typed[0]}` and `{typed[1]}` exclude each other: each says when requests come"
        raise UsageFault(message, hint="leave one of them out")
    is_open = bool(typed) and not (wish.sweep is not None and wish.sweep.by == "concurrency")
    _check_ends(wish, typed)
    _check_ramps(wish)
    if wish.concurrency is not None and typed:
        _check_most(wish.concurrency, typed[0])
    _check_pace(wish, is_open=is_open)
    if not is_open:
        _check_places(wish)


def _check_places(wish: Wish) -> None:
    """Refuse fewer requests than are to be in flight: the stage would say a load it never had."""
    name, levels = "-c", () if wish.concurrency is None else wish.concurrency.values
    if wish.sweep is not None:
        name, levels = "--sweep", (wish.sweep.high,)
    most = int(max(levels, default=1))
    if wish.requests is not None and wish.requests < most:
        message = f"`-n {wish.requests}` is less than the {most:,} requests in flight of `{name}`"
        raise UsageFault(message, hint=f"`-n {most}` at least; several times as many show a load")


def _check_pace(wish: Wish, *, is_open: bool) -> None:
    """Refuse what is of one kind of loop beside the other."""
    if wish.gaps is not None and not is_open:
        raise UsageFault("`--arrival` needs `--rate`: without it the answers set the pace")
    if wish.gaps is not None and wish.trace is not None:
        raise UsageFault("`--arrival` and `--trace` exclude each other: a trace has its own gaps")
    if wish.stops.on_saturation and not is_open:
        message = "`--stop-on saturation` needs `--rate` or `--trace`: what rises is what waits"
        hint = "without them answers set the pace; `--sweep` finds where a closed loop saturates"
        raise UsageFault(message, hint=hint)
    if wish.lock_step and is_open:
        raise UsageFault("`--lock-step` is of a closed loop: a rate has its own times")


def _check_ends(wish: Wish, typed: list[str]) -> None:
    needs_end = wish.rate is not None or (wish.sweep is not None and wish.sweep.by == "rate")
    if needs_end and wish.requests is None and wish.duration_ms is None:
        message = f"`{typed[0]}` needs an end: `-d 30s` or `-n 200`"
        raise UsageFault(message)


def _check_ramps(wish: Wish) -> None:
    for levels, name in ((wish.concurrency, "-c"), (wish.rate, "--rate")):
        if levels is not None and levels.is_ramp and wish.duration_ms is None:
            message = f"a ramp of `{name}` needs `-d`: how long it takes from end to end"
            raise UsageFault(message)
    if wish.concurrency is None or not wish.concurrency.is_ramp:
        return
    begin, end = wish.concurrency.values
    if begin > end:
        message = f"the ramp `-c {begin:.0f}..{end:.0f}` falls: its senders begin one by one"
        raise UsageFault(message, hint=f"`-c {end:.0f}..{begin:.0f}`, or steps such as `-c 8,4,2`")


def _check_most(most: Levels, shape: str) -> None:
    """Refuse a `-c` beside what says when requests come, unless it is the most in flight."""
    if shape == "--sweep":
        message = "`-c` and `--sweep` exclude each other: the sweep chooses each load"
        raise UsageFault(message, hint="leave one of them out")
    if most.single is None:
        message = f"several levels of `-c` and `{shape}` exclude each other"
        raise UsageFault(message, hint="with a rate, `-c N` is the most that may be in flight")


def _closed(wish: Wish, levels: Levels, template: Stage) -> tuple[Stage, ...]:
    counts = [int(level) for level in levels.values]
    if levels.is_ramp:
        begin, end = counts
        return (
            msgspec.structs.replace(
                template,
                concurrency=max(begin, end),
                concurrency_from=min(begin, end),
                warmups=_warmups(wish, begin),
            ),
        )
    return tuple(
        msgspec.structs.replace(
            template,
            number=number,
            concurrency=count,
            warmups=_warmups(wish, count),
            requests=_requests(wish.requests, wish.duration_ms, count),
        )
        for number, count in enumerate(counts, start=1)
    )


def _open(wish: Wish, levels: Levels, template: Stage) -> tuple[Stage, ...]:
    cap = None if wish.concurrency is None else int(wish.concurrency.values[0])
    common = msgspec.structs.replace(template, concurrency=cap, warmups=_warmups(wish, 1))
    if levels.is_ramp:
        begin, end = levels.values
        found: tuple[Stage, ...] = (
            msgspec.structs.replace(common, rate_from=begin, rate_per_second=end),
        )
    else:
        found = tuple(
            msgspec.structs.replace(common, number=number, rate_per_second=rate)
            for number, rate in enumerate(levels.values, start=1)
        )
    _check_length(found, "--rate")
    return found


def _check_length(found: Sequence[Stage], name: str) -> None:
    """Refuse a schedule that would fill the memory, and be computed for minutes, unheard."""
    if any((planned_requests(stage) or 0) > MOST_SCHEDULED for stage in found):
        message = f"a stage has at most {MOST_SCHEDULED:,} requests"
        raise UsageFault(message, hint=f"lower `{name}`, or shorten `-d`")
    for stage in found:
        if stage.duration_ms is None and stage.requests is not None and stage.rate_per_second:
            days = stage.requests / stage.rate_per_second / _SECONDS_PER_DAY
            if days > MOST_DAYS:
                message = f"{stage.requests:,} requests at this rate would take {days:.3g} days"
                raise UsageFault(message, hint=f"raise `{name}`, or end it with `-d`")


def _traced(wish: Wish, trace: Trace, template: Stage) -> Stage:
    return msgspec.structs.replace(
        template,
        concurrency=None if wish.concurrency is None else int(wish.concurrency.values[0]),
        offsets_ms=trace.offsets_ms,
        input_tokens=trace.input_tokens,
        output_tokens=trace.output_tokens,
        warmups=_warmups(wish, 1),
    )


def _requests(requests: int | None, duration_ms: float | None, concurrency: int) -> int | None:
    if requests is None and duration_ms is None:
        return max(FEWEST_REQUESTS, WAVES * concurrency)
    return requests


def _warmups(wish: Wish, concurrency: int) -> int:
    return min(concurrency, _MOST_WARMUPS) if wish.warmups is None else wish.warmups


def planned_requests(stage: Stage) -> int | None:
    """Return how many measured requests a stage has by its plan; ``None`` = time decides.

    Of an open loop that ends by time it is the expectation: the schedule's own number is drawn.
    Where the clock begins conversations, each of them has all of its turns.
    """
    if stage.kind == "closed":
        return stage.requests
    begun = _planned_arrivals(stage)
    return None if begun is None else begun * stage.turns


def _planned_arrivals(stage: Stage) -> int | None:
    if stage.kind == "trace":
        return min(len(stage.offsets_ms), stage.requests or len(stage.offsets_ms))
    if stage.rate_per_second is None or stage.duration_ms is None:
        return stage.requests
    mean = (stage.rate_per_second + (stage.rate_from or stage.rate_per_second)) / 2
    expected = math.ceil(mean * stage.duration_ms / 1e3)
    return expected if stage.requests is None else min(expected, stage.requests)
