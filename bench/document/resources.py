"""What the gateway's processes used, from the samples of a run."""

import itertools
from collections.abc import Iterable, Sequence

from bench.model.resources import GatewayResources, ResourceSeries
from bench.model.surroundings import Gateway, Sample
from bench.parts import Part

MOST_POINTS = 400
"""Longest series in a document; the journal has every sample."""
_NS_PER_MS = 1e6
_SHORTEST_STEP_MS = 200.0
"""Processor time counts in ticks of 10 ms: over less than this its share is noise."""


def gateway_resources(parts: Sequence[Part], gateway: Gateway | None) -> GatewayResources | None:
    """Return the figures; ``None`` when nothing was sampled.

    Args:
        parts: One for each process that measured; each may have watched another gateway.
        gateway: As the job described it last.
    """
    sampled = [part for part in parts if part.samples]
    if not sampled:
        return None
    samples = [sample for part in sampled for sample in part.samples]
    spans = [span for part in sampled if (span := _span(part)) is not None]
    cpu_ms = sum(span[0] for span in spans) if spans else None
    span_ms = sum(span[1] for span in spans)
    requests = sum(part.requests for part in sampled)
    series = _series(sampled)
    first, last = samples[0], samples[-1]
    was_started = gateway is not None and any(
        one.get("name") == "spawned" for one in gateway.events
    )
    return GatewayResources(
        samples=len(samples),
        span_ms=span_ms,
        requests=requests,
        cold_start_ms=gateway.ready_after_ms if gateway is not None and was_started else None,
        cold_start_cpu_ms=first.values.get("cpuMs") if was_started else None,
        cpu_ms=cpu_ms,
        cpu_ms_per_request=None if cpu_ms is None or not requests else cpu_ms / requests,
        mean_cpu_cores=None if cpu_ms is None or not span_ms else cpu_ms / span_ms,
        peak_cpu_cores=max((one for one in series.cpu_cores if one is not None), default=None),
        idle_rss_mb=first.values.get("rssMb"),
        peak_rss_mb=_largest(samples, "rssMb"),
        final_rss_mb=last.values.get("rssMb"),
        idle_pss_mb=first.values.get("pssMb"),
        peak_pss_mb=_largest(samples, "pssMb"),
        final_pss_mb=last.values.get("pssMb"),
        max_processes=_most(samples, "processes"),
        max_threads=_most(samples, "threads"),
        max_descriptors=_most(samples, "descriptors"),
        max_connections_in=_most(samples, "connectionsIn"),
        max_connections_waiting=_most(samples, "connectionsWaiting"),
        max_connections_out=_most(samples, "connectionsOut"),
        series=_thinned(series),
    )


def _span(part: Part) -> tuple[float, float] | None:
    """Return processor time and time between the first and the last sample that know it."""
    known = [sample for sample in part.samples if "cpuMs" in sample.values]
    if len(known) < 2:  # noqa: PLR2004 -- a difference needs two
        return None
    first, last = known[0], known[-1]
    spent = last.values["cpuMs"] - first.values["cpuMs"]
    return spent, (last.at_ns - first.at_ns) / _NS_PER_MS


def _largest(samples: Iterable[Sample], name: str) -> float | None:
    return max((one.values[name] for one in samples if name in one.values), default=None)


def _most(samples: Iterable[Sample], name: str) -> int | None:
    largest = _largest(samples, name)
    return None if largest is None else round(largest)


def _series(parts: Iterable[Part]) -> ResourceSeries:
    at_ms, rss_mb, cores = [], [], []
    for part in parts:
        origin_ns = part.samples[0].at_ns
        before: Sample | None = None
        for sample in part.samples:
            at_ms.append(part.offset_ms + (sample.at_ns - origin_ns) / _NS_PER_MS)
            rss_mb.append(sample.values.get("rssMb"))
            cores.append(None if before is None else _cores(before, sample))
            before = sample
    return ResourceSeries(at_ms=tuple(at_ms), rss_mb=tuple(rss_mb), cpu_cores=tuple(cores))


def _cores(before: Sample, now: Sample) -> float | None:
    took_ms = (now.at_ns - before.at_ns) / _NS_PER_MS
    if took_ms < _SHORTEST_STEP_MS or not {"cpuMs"} <= before.values.keys() & now.values.keys():
        return None
    return (now.values["cpuMs"] - before.values["cpuMs"]) / took_ms


def _thinned(series: ResourceSeries) -> ResourceSeries:
    """Keep the largest of neighbours that share a point: a peak must not get lost."""
    step = -(-len(series.at_ms) // MOST_POINTS)
    starts = range(0, len(series.at_ms), step)

    def largest(values: Sequence[float | None], digits: int) -> tuple[float | None, ...]:
        found = []
        for start in starts:
            known = [
                one for one in itertools.islice(values, start, start + step) if one is not None
            ]
            found.append(round(max(known), digits) if known else None)
        return tuple(found)

    return ResourceSeries(
        at_ms=tuple(round(series.at_ms[start], 1) for start in starts),
        rss_mb=largest(series.rss_mb, 3),
        cpu_cores=largest(series.cpu_cores, 4),
    )
