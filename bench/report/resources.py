"""How the gateway's own processes fared: figures, one sentence, and two curves."""

from collections.abc import Sequence

from bench.model.document import Document
from bench.model.resources import GatewayResources
from bench.report.charts import axis
from bench.report.curves import Curve, CurveChart, bounds, lines
from bench.report.figures import ABSENT, counted, duration, ms
from bench.report.tables import Cell, Section, Table, text

_MS_PER_S = 1000.0
_FEWEST = 3
"""Fewer points make no curve."""


def resources_of(document: Document) -> GatewayResources | None:
    """Return what was sampled, if there is a gateway of ours and anything was."""
    return None if document.gateway is None else document.gateway.resources


def resource_sentence(document: Document) -> str | None:
    """Return what a gateway used in one line; ``None`` = nothing is known."""
    used = resources_of(document)
    if used is None:
        return None
    parts = []
    if used.cold_start_ms is not None:
        parts.append(f"ready in {duration(used.cold_start_ms)}")
    if used.peak_rss_mb is not None:
        parts.append(f"memory {ms(used.idle_rss_mb)} MB idle, {ms(used.peak_rss_mb)} MB at most")
    if used.cpu_ms_per_request is not None:
        parts.append(
            f"CPU {ms(used.cpu_ms_per_request)} ms per request "
            f"(of {counted(used.requests, 'request')})"
        )
    return f"Gateway: {'; '.join(parts)}" if parts else None


def resources(document: Document) -> Section:
    """Return the figures as a table."""
    used = resources_of(document)
    return Section(
        id="resources",
        title="Gateway's resource use",
        note="All its processes together, from when it was ready until it was stopped. Memory is "
        "resident (RSS; shared pages count in each process) or proportional (PSS; they are split). "
        "CPU per request includes what the gateway does between requests.",
        table=Table(
            columns=("Quantity", "When ready", "Largest", "At the end, or in all"),
            rows=() if used is None else _rows(used),
        ),
        is_folded=True,
    )


def _rows(used: GatewayResources) -> tuple[tuple[Cell, ...], ...]:
    levels: tuple[tuple[str, float | None, float | None, float | None], ...] = (
        ("Memory, RSS (MB)", used.idle_rss_mb, used.peak_rss_mb, used.final_rss_mb),
        ("Memory, PSS (MB)", used.idle_pss_mb, used.peak_pss_mb, used.final_pss_mb),
        ("CPU (cores)", None, used.peak_cpu_cores, None),
        ("Processes", None, used.max_processes, None),
        ("Threads", None, used.max_threads, None),
        ("Open descriptors", None, used.max_descriptors, None),
        ("Connections to it", None, used.max_connections_in, None),
        ("Connections it had not accepted", None, used.max_connections_waiting, None),
        ("Connections from it", None, used.max_connections_out, None),
    )
    sums = (
        ("CPU per request (ms)", used.cpu_ms_per_request),
        ("CPU in all (ms)", used.cpu_ms),
        ("CPU (cores), mean", used.mean_cpu_cores),
        ("Cold start (ms)", used.cold_start_ms),
        ("CPU of the cold start (ms)", used.cold_start_cpu_ms),
    )
    return (
        *(text(name, ABSENT, ABSENT, ms(value)) for name, value in sums if value is not None),
        *(
            text(row[0], *map(_figure, row[1:]))
            for row in levels
            if any(value is not None for value in row[1:])
        ),
    )


def _figure(value: float | int | None) -> str:
    return f"{value:,}" if isinstance(value, int) else ms(value)


def resource_chart(document: Document) -> CurveChart | None:
    """Return memory and processor time over the run."""
    used = resources_of(document)
    if used is None or len(used.series.at_ms) < _FEWEST:
        return None
    series = used.series
    end, ticks = axis(series.at_ms[-1] / _MS_PER_S)
    curves = [
        _curve(
            "Memory (MB)",
            f"RSS, at most {ms(used.peak_rss_mb)} MB",
            series.rss_mb,
            series.at_ms,
            end,
        ),
        _curve(
            "CPU (cores)",
            f"at most {ms(used.peak_cpu_cores)}, mean {ms(used.mean_cpu_cores)}",
            series.cpu_cores,
            series.at_ms,
            end,
        ),
    ]
    shown = tuple(curve for curve in curves if curve is not None)
    if not shown:
        return None
    return CurveChart(
        id="gateway-over-time",
        title="The gateway's processes over the run",
        note=f"{counted(used.samples, 'sample')}, one each second.",
        curves=shown,
        ticks=ticks,
        unit=" s",
    )


def _curve(
    label: str,
    detail: str,
    values: Sequence[float | None],
    at_ms: Sequence[float],
    end_s: float,
) -> Curve | None:
    known = [value for value in values if value is not None]
    if len(known) < _FEWEST - 1:
        return None
    top, ticks = axis(max(known))
    places = (at / _MS_PER_S / end_s for at in at_ms)
    return Curve(
        label=label,
        detail=detail,
        lines=lines(list(zip(places, values, strict=True)), top=top),
        ticks=bounds(ticks),
    )
