"""What the gateway's processes used while each level was measured. Pure.

The base arm goes past the gateway: what is used while it alone is asked is the idle use.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bench.model.overhead import LevelUse
from bench.model.paired import Pairing
from bench.model.trial import Trial
from bench.paired.differences import median
from bench.parts import Part
from bench.stage_book import StageEntry

_NS_PER_MS = 1e6
_LEAST_SPAN_MS = 500.0
"""Processor time counts in ticks of 10 ms: over less than this it is noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    at_ms: float
    values: dict[str, float]


def gateway_use(
    parts: Sequence[Part],
    entries: Iterable[StageEntry],
    pairing: Pairing,
    *,
    trials: Sequence[Trial] = (),
) -> tuple[LevelUse, ...]:
    """Return what was used level by level; empty where nothing was sampled.

    Args:
        parts: Samples of each measuring process.
        entries: Load stages of the run.
        pairing: Which target is which arm.
        trials: Of the run: they know both the clock of the samples and the run's offsets.
    """
    readings = _readings(parts, trials)
    if not readings:
        return ()
    listed = [entry for entry in entries if entry.stage.pair is not None]
    uses = []
    for level in range(len(pairing.levels)):
        own = [e for e in listed if e.stage.pair is not None and e.stage.pair.level == level]
        if own:
            uses.append(_use(level, own, readings, pairing))
    return tuple(uses)


def _use(
    level: int, entries: Sequence[StageEntry], readings: Sequence[_Reading], pairing: Pairing
) -> LevelUse:
    pairs = [e for e in entries if e.stage.pair is not None and e.stage.pair.phase != "noise"]
    quiet = [e for e in entries if e.stage.pair is not None and e.stage.pair.phase == "noise"]
    asked = [e for e in pairs if e.begun.target_id == pairing.changed.target_id]
    requests = sum(len(entry.columns.marks) + entry.columns.warmups for entry in asked)
    busy, idle = _spent(readings, _window(pairs)), _spent(readings, _window(quiet))
    inside = _inside(readings, _window(entries)) or _nearest(readings, _window(entries))
    resident = [one.values["rssMb"] for one in inside if "rssMb" in one.values]
    first = readings[0].values.get("rssMb")
    return LevelUse(
        level=level,
        cpu_ms_per_request=busy[0] / requests if busy is not None and requests else None,
        idle_cpu_cores=idle[0] / idle[1] if idle is not None else None,
        rss_mb=median(resident),
        rss_rise_mb=max(resident) - first if resident and first is not None else None,
    )


def _readings(parts: Sequence[Part], trials: Sequence[Trial]) -> list[_Reading]:
    readings = []
    ends = [*(part.offset_ms for part in parts[1:]), math.inf]
    for part, end_ms in zip(parts, ends, strict=True):
        if not part.samples:
            continue
        zero_ns = _zero_ns(part, end_ms, trials)
        readings += [
            _Reading(at_ms=(sample.at_ns - zero_ns) / _NS_PER_MS, values=sample.values)
            for sample in part.samples
        ]
    return readings


def _zero_ns(part: Part, end_ms: float, trials: Iterable[Trial]) -> float:
    """Return the reading of the samples' clock at which the run's offset was 0, by this part."""
    for trial in trials:
        began = trial.started_offset_ms
        if trial.sent_at_ns is not None and part.offset_ms <= began < end_ms:
            return trial.sent_at_ns - began * _NS_PER_MS
    return part.samples[0].at_ns - part.offset_ms * _NS_PER_MS


def _nearest(readings: Sequence[_Reading], window: tuple[float, float]) -> list[_Reading]:
    """Return the reading before a window that is too short to hold one, else the one after."""
    before = [one for one in readings if one.at_ms <= window[0]]
    return before[-1:] or list(readings[:1])


def _window(entries: Sequence[StageEntry]) -> tuple[float, float]:
    ends = [entry.done.ended_offset_ms for entry in entries if entry.done is not None]
    begins = [entry.begun.offset_ms for entry in entries]
    return min(begins, default=0.0), max(ends, default=0.0)


def _inside(readings: Iterable[_Reading], window: tuple[float, float]) -> list[_Reading]:
    return [one for one in readings if window[0] <= one.at_ms <= window[1]]


def _spent(readings: Sequence[_Reading], window: tuple[float, float]) -> tuple[float, float] | None:
    """Return processor time and time, milliseconds, between the readings around a window."""
    known = [one for one in readings if "cpuMs" in one.values]
    before = [one for one in known if one.at_ms <= window[0]][-1:]
    after = [one for one in known if one.at_ms >= window[1]][:1]
    ends = (before or known[:1], after or known[-1:])
    if not known or window[1] <= window[0]:
        return None
    first, last = ends[0][0], ends[1][0]
    if last.at_ms - first.at_ms < _LEAST_SPAN_MS or _fell(known):
        return None
    return last.values["cpuMs"] - first.values["cpuMs"], last.at_ms - first.at_ms


def _fell(known: Sequence[_Reading]) -> bool:
    """Say whether the count began again: a resumed run has another gateway process."""
    return any(
        later.values["cpuMs"] < earlier.values["cpuMs"] for earlier, later in pairwise(known)
    )
