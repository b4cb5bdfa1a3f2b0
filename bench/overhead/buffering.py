"""Whether a gateway passes a stream on as it gets it: shapes of both arms' streams compared. Pure.

A stream that comes slowly from the upstream and in few bursts through the gateway was buffered. One
that comes in bursts already tells nothing about who made them.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from bench.model.overhead import Buffering, BufferingVerdict, StreamShape
from bench.model.trial import StreamChunk, Trial
from bench.paired.differences import median

FEWEST_CHUNKS = 16
"""Shorter streams fit into one buffer of any size."""
MOST_BURST_GAP_MS = 2.0
"""Chunks this close came together: a paced model takes longer for a token."""
_BURST_GAP_SHARE = 0.25
_FASTEST_JUDGED_GAP_MS = 1.0
"""Median gap of the base arm below which bursts can't be told from a fast stream."""
COALESCED = 1.5
"""Times as many chunks per burst as the base arm: below it, chance."""
_HELD_BURSTS = 2
_HELD_SHARE = 0.8
_MOST_HELD = 0.5
_KB = 1024
_NOT_JUDGED = "buffering can't be judged"
_FLUSHES_KB = (4, 8, 16, 32, 64)
_FLUSH_TOLERANCE = 0.15


def buffering(base: Iterable[Trial], changed: Iterable[Trial]) -> Buffering | None:
    """Return the verdict over the answers whose chunks were kept; ``None`` without any.

    Args:
        base: Trials straight at the upstream.
        changed: Trials through the gateway.
    """
    direct, through = _streams(base), _streams(changed)
    if not direct or not through:
        return None
    gap_ms = _typical_gap(direct)
    edge_ms = min(MOST_BURST_GAP_MS, _BURST_GAP_SHARE * (gap_ms or 0.0))
    one, other = shape(direct, edge_ms=edge_ms), shape(through, edge_ms=edge_ms)
    return _verdict(one, other, gap_ms)


def shape(answers: Sequence[Trial], *, edge_ms: float) -> StreamShape:
    """Return how the streams of ``answers`` were cut.

    Args:
        answers: At least one, with chunks.
        edge_ms: Gaps above it part two bursts.
    """
    bursts = [_bursts(trial.response.stream_chunks, edge_ms) for trial in answers]
    gaps = [
        later[0].at_ms - earlier[-1].at_ms for each in bursts for earlier, later in pairwise(each)
    ]
    sizes = [
        size
        for trial, each in zip(answers, bursts, strict=True)
        if (size := _burst_bytes(trial, each)) is not None
    ]
    held = sum(map(_is_held, answers, bursts))
    return StreamShape(
        answers=len(answers),
        chunks=_middle(len(trial.response.stream_chunks) for trial in answers),
        bursts=_middle(len(each) for each in bursts),
        chunks_per_burst=_middle(
            len(trial.response.stream_chunks) / len(each)
            for trial, each in zip(answers, bursts, strict=True)
        ),
        burst_bytes=median(sizes),
        held_back_share=held / len(answers),
        gap_ms=median(gaps),
    )


def _verdict(base: StreamShape, changed: StreamShape, gap_ms: float | None) -> Buffering:
    verdict, text = _judged(base, changed, gap_ms)
    return Buffering(verdict=verdict, text=text, base=base, changed=changed)


def _judged(
    base: StreamShape, changed: StreamShape, gap_ms: float | None
) -> tuple[BufferingVerdict, str]:
    if base.held_back_share > _MOST_HELD:
        return "undecided", f"{_NOT_JUDGED}: the upstream itself holds its stream back"
    if changed.held_back_share > _MOST_HELD:
        return "holds_back", "holds the whole answer back until its end"
    why = ""
    if min(base.chunks, changed.chunks) < FEWEST_CHUNKS:
        why = f"fewer than {FEWEST_CHUNKS} chunks"
    elif gap_ms is None or gap_ms < _FASTEST_JUDGED_GAP_MS:
        why = "the upstream streams too fast"
    if why:
        return "undecided", f"{_NOT_JUDGED}: {why}"
    if changed.chunks_per_burst < COALESCED * base.chunks_per_burst:
        return "none", "does not buffer"
    return "coalesces", f"passes the stream on in bursts of about {_burst_text(changed)}"


def _burst_text(found: StreamShape) -> str:
    chunks = f"{found.chunks_per_burst:.0f} chunks"
    if found.burst_bytes is None:
        return chunks
    kilobytes = found.burst_bytes / _KB
    for flush in _FLUSHES_KB:
        if abs(kilobytes - flush) <= _FLUSH_TOLERANCE * flush:
            return f"{flush} KB ({chunks})"
    return f"{kilobytes:.1f} KB ({chunks})"


def _streams(trials: Iterable[Trial]) -> list[Trial]:
    return [
        trial
        for trial in trials
        if trial.response.stream_chunks
        and trial.response.error is None
        and trial.invalidated is None
        and not trial.warmup
    ]


def _typical_gap(answers: Iterable[Trial]) -> float | None:
    """Return the median over answers of the mean gap: reads that hold two chunks don't hide it."""
    means = [
        (chunks[-1].at_ms - chunks[0].at_ms) / (len(chunks) - 1)
        for trial in answers
        if len(chunks := trial.response.stream_chunks) > 1
    ]
    return median(means)


def _bursts(chunks: Sequence[StreamChunk], edge_ms: float) -> list[list[StreamChunk]]:
    found = [[chunks[0]]]
    for earlier, later in pairwise(chunks):
        if later.read != earlier.read and later.at_ms - earlier.at_ms > edge_ms:
            found.append([])
        found[-1].append(later)
    return found


def _burst_bytes(trial: Trial, bursts: Sequence[Sequence[StreamChunk]]) -> float | None:
    """Return the bytes of a typical burst: a flush at a limit fills all but the last."""
    total, count = trial.response.body_bytes, len(trial.response.stream_chunks)
    if total is None:
        return None
    full = [len(burst) for burst in bursts[:-1]] or [len(bursts[0])]
    return total / count * (median([float(size) for size in full]) or 0.0)


def _is_held(trial: Trial, bursts: Sequence[Sequence[StreamChunk]]) -> bool:
    """Say whether an answer came in one or two bursts, the last ones of its time."""
    timing = trial.response.timing
    first, total = timing.first_token_ms, timing.total_ms
    if len(trial.response.stream_chunks) < FEWEST_CHUNKS and not timing.held_back:
        return False
    if first is None or not total or len(bursts) > _HELD_BURSTS:
        return False
    return first >= _HELD_SHARE * total


def _middle(values: Iterable[float]) -> float:
    return median([float(value) for value in values]) or 0.0
