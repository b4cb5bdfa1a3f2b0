"""What an overhead run says beside the differences: streams, the gateway's claim, its processes."""

from collections.abc import Iterator
from typing import Any

from bench.model.document import Document
from bench.model.overhead import LevelUse, StreamShape
from bench.overhead.amounts import number, signed
from bench.report.figures import ABSENT, counted, percent
from bench.report.tables import Cell, Section, Table, text


def overhead_sections(document: Document) -> tuple[Section, ...]:
    """Return the sections of an overhead run that belong to no other kind."""
    if document.summary.overhead is None:
        return ()
    return (_streams(document), _claims(document), _processes(document))


def overhead_detail(document: Document) -> dict[str, Any]:
    """Return what ``--json`` says besides the differences; empty for other runs."""
    findings, labels = document.summary.overhead, _labels(document)
    if findings is None:
        return {}
    return {
        "buffering": findings.buffering.verdict if findings.buffering else None,
        "claims": [
            {
                "load": labels.get(claim.level),
                "claimedMs": claim.claimed_ms,
                "measuredMs": claim.measured_ms,
                "answers": claim.answers,
            }
            for claim in findings.claims
        ],
    }


def overhead_lines(document: Document) -> Iterator[str]:
    """Yield what a terminal tells."""
    findings = document.summary.overhead
    if findings is None:
        return
    labels = _labels(document)
    for claim in findings.claims:
        where = f"{labels.get(claim.level, '')}: it" if len(labels) > 1 else "It"
        yield (
            f"{where} says itself that it adds {number(claim.claimed_ms)} ms (median of "
            f"{counted(claim.answers, 'answer')}); measured on the whole answer: "
            f"{signed(claim.measured_ms)} ms"
        )
    for use in findings.use:
        if use.cpu_ms_per_request is not None:
            resident = "" if use.rss_mb is None else f", {use.rss_mb:,.0f} MB resident"
            yield (
                f"{labels.get(use.level, '')}: {number(use.cpu_ms_per_request)} ms of processor "
                f"time per request{resident}"
            )


def _streams(document: Document) -> Section:
    findings, paired = document.summary.overhead, document.summary.paired
    stream = findings.buffering if findings else None
    rows = []
    if stream is not None and paired is not None:
        for label, shape in ((paired.base, stream.base), (paired.changed, stream.changed)):
            if shape is not None:
                rows.append(_shape_row(label, shape))
    return Section(
        id="stream-shapes",
        title="How streams arrive",
        note="At the first level of load. A burst: chunks that came closer together than a quarter of the upstream's pace. "
        "A gateway that buffers has several times as many chunks in each as its upstream. "
        f"Verdict: the gateway {_verdict(document)}.",
        table=Table(
            columns=(
                "Asked",
                "Answers",
                "Chunks",
                "Bursts",
                "Chunks per burst",
                "Bytes per burst",
                "Held back to the end",
                "Gap between bursts (ms)",
            ),
            rows=tuple(rows),
        ),
    )


def _verdict(document: Document) -> str:
    findings = document.summary.overhead
    stream = findings.buffering if findings else None
    if stream is None:
        return "sent no stream"
    return f"can't be judged ({stream.text})" if stream.verdict == "undecided" else stream.text


def _shape_row(label: str, shape: StreamShape) -> tuple[Cell, ...]:
    return text(
        label,
        str(shape.answers),
        f"{shape.chunks:g}",
        f"{shape.bursts:g}",
        f"{shape.chunks_per_burst:.1f}",
        ABSENT if shape.burst_bytes is None else f"{shape.burst_bytes:,.0f}",
        percent(shape.held_back_share),
        ABSENT if shape.gap_ms is None else number(shape.gap_ms),
    )


def _claims(document: Document) -> Section:
    findings, labels = document.summary.overhead, _labels(document)
    return Section(
        id="gateway-claims",
        title="What the gateway says it adds",
        note="Its own word, a header of each answer, as a median; beside it what was measured on "
        "the whole answer, on warm connections.",
        table=Table(
            columns=("Load", "Answers", "Its own word (ms)", "Measured (ms)"),
            rows=tuple(
                text(
                    labels.get(claim.level, ""),
                    f"{claim.answers:,}",
                    number(claim.claimed_ms),
                    ABSENT if claim.measured_ms is None else signed(claim.measured_ms),
                )
                for claim in (findings.claims if findings else ())
            ),
        ),
    )


def _processes(document: Document) -> Section:
    findings, labels = document.summary.overhead, _labels(document)
    return Section(
        id="gateway-use",
        title="What the gateway uses",
        note="Of all its processes. Asked directly, the upstream uses none of it, so all of it is "
        "added. Idle: while only the upstream was asked.",
        table=Table(
            columns=(
                "Load",
                "Processor time per request (ms)",
                "Idle (cores)",
                "Resident (MB)",
                "Above the first sample (MB)",
            ),
            rows=tuple(
                _use_row(labels.get(use.level, ""), use)
                for use in (findings.use if findings else ())
            ),
        ),
    )


def _use_row(label: str, use: LevelUse) -> tuple[Cell, ...]:
    def shown(value: float | None, digits: int) -> str:
        return ABSENT if value is None else f"{value:,.{digits}f}"

    return text(
        label,
        shown(use.cpu_ms_per_request, 2),
        shown(use.idle_cpu_cores, 3),
        shown(use.rss_mb, 1),
        shown(use.rss_rise_mb, 1),
    )


def _labels(document: Document) -> dict[int, str]:
    paired = document.summary.paired
    return {level.level: level.label for level in paired.levels} if paired else {}
