"""When this machine, not the gateway, may have been what was measured. Rules: docs/load.md."""

from collections.abc import Iterator

from bench.model.load import ClientReading, Stage, StageDone
from bench.model.summary import NumericSummary, SketchSummary

MOST_UTILISATION = 0.8
"""Of one event loop; near 1 its reads coalesce and every stamp is late."""
LAG_FLOOR_MS = 2.0
LAG_SHARE = 0.05
"""Of the median TTFT and of the median gap, whichever is the smaller."""
MOST_LATE = 0.01


def client_limits(
    done: StageDone, stage: Stage, *, ttft: NumericSummary | None, itl: SketchSummary | None
) -> tuple[str, ...]:
    """Return why a stage may show this client's limits, in words with values; empty: it does not.

    Args:
        done: With the client's reading.
        stage: What was asked for.
        ttft: Of the stage.
        itl: Of the stage.
    """
    return tuple(_limits(done, stage, _bound(ttft, itl)))


def _bound(ttft: NumericSummary | None, itl: SketchSummary | None) -> float | None:
    """Return the lag that figures can stand; ``None``: there are no times that it could spoil."""
    medians = [summary.p50 for summary in (ttft, itl) if summary is not None]
    return max(LAG_FLOOR_MS, LAG_SHARE * min(medians)) if medians else None


def _limits(done: StageDone, stage: Stage, bound_ms: float | None) -> Iterator[str]:
    reading = done.client
    if reading.utilisation_max is not None and reading.utilisation_max > MOST_UTILISATION:
        busy, most = reading.utilisation_max, MOST_UTILISATION
        yield f"its event loop was {busy:.0%} busy in one second (at most {most:.0%} is fine)"
    lag = _lag(reading)
    if lag is not None and bound_ms is not None and lag > bound_ms:
        yield f"every hundredth read waited {lag:.1f} ms or more for it ({bound_ms:.1f} ms is fine)"
    if "connections only" in done.detail:
        yield "the system lets it open too few connections"
    if stage.concurrency is None and done.late > MOST_LATE * max(1, done.sent):
        yield f"it sent {done.late:,} of {done.sent:,} requests more than 10 ms late"


def _lag(reading: ClientReading) -> float | None:
    """Return the p99 delay of reads: measured by the kernel where it can, else by the loop probe."""
    if reading.receive_lag_p99_ms is not None:
        return reading.receive_lag_p99_ms
    return reading.loop_lag_p99_ms
