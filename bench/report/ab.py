"""What a comparison of two gateways says beside the differences: builds, resources."""

from collections.abc import Iterator
from typing import Any

from bench.model.ab import AbSide
from bench.model.document import Document
from bench.report.figures import ABSENT, ms, percent
from bench.report.tables import Cell, Section, Table

_SHORT = 12


def ab_sections(document: Document) -> tuple[Section, ...]:
    """Return the sections of a comparison that belong to no other kind."""
    return (_sides(document),) if document.summary.ab else ()


def ab_lines(document: Document) -> Iterator[str]:
    """Yield what a terminal tells: what each side used."""
    findings = document.summary.ab
    for side in findings.sides if findings else ():
        used = side.resources
        if used is not None and used.cpu_ms_per_request is not None:
            resident = f", {used.peak_rss_mb:,.0f} MB at most" if used.peak_rss_mb else ""
            yield f"{side.label}: {ms(used.cpu_ms_per_request)} ms of processor time per request{resident}"


def ab_detail(document: Document) -> dict[str, Any]:
    """Return what ``--json`` says of the sides of a comparison; empty for other runs."""
    findings, paired = document.summary.ab, document.summary.paired
    if findings is None or paired is None:
        return {}
    return {
        "isSame": paired.is_same,
        "sides": {
            side.side: {
                "label": side.label,
                "commit": side.build.get("commit"),
                "requests": side.requests,
                "failed": side.failed,
                "cpuMsPerRequest": None
                if side.resources is None
                else side.resources.cpu_ms_per_request,
                "peakRssMb": None if side.resources is None else side.resources.peak_rss_mb,
            }
            for side in findings.sides
        },
    }


def _sides(document: Document) -> Section:
    findings = document.summary.ab
    return Section(
        id="sides",
        title="The two sides",
        note="Of all processes of each gateway, from the first sample to the last. Both ran at the "
        "same time on this machine.",
        table=Table(
            columns=(
                "Side",
                "Commit",
                "Entry",
                "Requests",
                "Failed",
                "CPU per request (ms)",
                "Mean cores",
                "Idle memory (MB)",
                "Peak memory (MB)",
                "Ready after (ms)",
            ),
            rows=tuple(_side_row(side) for side in (findings.sides if findings else ())),
            words=3,
        ),
    )


def _side_row(side: AbSide) -> tuple[Cell, ...]:
    used = side.resources
    figures = (
        (used.cpu_ms_per_request, used.mean_cpu_cores, used.idle_rss_mb, used.peak_rss_mb)
        if used is not None
        else (None,) * 4
    )
    dirty = "with uncommitted changes" if side.build.get("isDirty") else ""
    share = side.failed / side.requests if side.requests else None
    return (
        Cell(text=side.label),
        Cell(text=_hash(side, "commit"), detail=dirty),
        Cell(text=_hash(side, "entrySha256")),
        Cell(text=f"{side.requests:,}"),
        Cell(text=str(side.failed), detail=percent(share) if side.failed else ""),
        *(Cell(text=ms(value)) for value in figures),
        Cell(text=ms(used.cold_start_ms if used is not None else None)),
    )


def _hash(side: AbSide, key: str) -> str:
    value = side.build.get(key)
    return ABSENT if value is None else str(value)[:_SHORT]
