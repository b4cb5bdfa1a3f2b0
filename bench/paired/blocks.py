"""Load stages of two arms put together as pairs. Pure."""

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from bench.load.columns import VALID, StageColumns
from bench.model.paired import PairPhase, PairPlace, Side
from bench.stage_book import StageEntry
from bench.stats import percentile

Metric = Literal["ttft", "itl", "total", "tpot", "speed"]
_COLUMNS: dict[Metric, Callable[[StageColumns], "array[float]"]] = {
    "ttft": lambda columns: columns.ttft_ms,
    "itl": lambda columns: columns.gap_ms,
    "total": lambda columns: columns.total_ms,
    "tpot": lambda columns: columns.tpot_ms,
    "speed": lambda columns: columns.speed,
}
_LEAST_SUCCESS = 0.5
"""A block in which more failed says what failing takes, not what answering takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure of a block: a percentile over its requests."""

    metric: Metric
    unit: str = "ms"
    fraction: float = 0.5

    @property
    def name(self) -> str:
        """Return ``ttft`` for a median, else ``ttft.p99``."""
        return self.metric if self.fraction == 0.5 else f"{self.metric}.p{self.fraction * 100:g}"  # noqa: PLR2004


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One measured block."""

    place: PairPlace
    entry: StageEntry

    def values(self, metric: Metric) -> list[float]:
        """Return the figure of each request that was answered, ascending."""
        columns = self.entry.columns
        column = _COLUMNS[metric](columns)
        return sorted(column[row] for row in columns.rows(VALID) if not math.isnan(column[row]))

    def value(self, figure: Figure) -> float | None:
        """Return the figure of the block; ``None`` where no request has one."""
        values = self.values(figure.metric)
        return percentile(values, figure.fraction) if values else None

    @property
    def counted(self) -> int:
        """Return how many requests count, failed ones included."""
        return self.entry.columns.count()

    @property
    def succeeded(self) -> int:
        """Return how many were answered."""
        return self.entry.columns.count(VALID)

    @property
    def began_ms(self) -> float:
        """Return its beginning as an offset of the run."""
        return self.entry.begun.offset_ms

    @property
    def ended_ms(self) -> float:
        """Return the end of its last request as an offset of the run."""
        done = self.entry.done
        return math.inf if done is None else done.ended_offset_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two blocks, one after the other."""

    base: Block
    changed: Block

    def difference(self, figure: Figure) -> float | None:
        """Return changed minus base; ``None`` without a value on both sides."""
        base, changed = self.base.value(figure), self.changed.value(figure)
        return None if base is None or changed is None else changed - base

    def ratio(self, figure: Figure) -> float | None:
        """Return changed by base; ``None`` without a value on both sides, or of nothing."""
        base, changed = self.base.value(figure), self.changed.value(figure)
        return None if not base or changed is None else changed / base


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The pairs of one phase of one level."""

    level: int
    phase: PairPhase
    whole: tuple[Pair, ...]
    dropped: int = 0
    """Begun, and torn by an interruption or without enough answers."""

    def blocks(self, side: Side) -> list[Block]:
        """Return the blocks of one side."""
        return [pair.base if side == "base" else pair.changed for pair in self.whole]


def find_pairs(
    entries: Iterable[StageEntry], *, borders: Sequence[float] = ()
) -> tuple[Pairs, ...]:
    """Return the pairs by level and phase.

    Args:
        entries: Load stages of a run; those that belong to no pair are left out.
        borders: Offsets in milliseconds at which a later process went on with the run. A pair with
            one inside is torn: its blocks did not follow each other.
    """
    blocks = [
        Block(place=entry.stage.pair, entry=entry)
        for entry in entries
        if entry.stage.pair is not None
    ]
    blocks.sort(key=_order)
    found = []
    for (level, phase), group in groupby(blocks, key=lambda b: (b.place.level, b.place.phase)):
        pairs: list[Pair] = []
        dropped = 0
        for _, two in groupby(group, key=lambda block: block.place.number):
            pair = _pair(list(two), borders)
            if pair is None:
                dropped += 1
            else:
                pairs.append(pair)
        found.append(Pairs(level=level, phase=phase, whole=tuple(pairs), dropped=dropped))
    return tuple(found)


def _order(block: Block) -> tuple[int, str, int]:
    return (block.place.level, block.place.phase, block.place.number)


def _pair(blocks: Sequence[Block], borders: Sequence[float]) -> Pair | None:
    sides = {block.place.side: block for block in blocks}
    if sides.keys() != {"base", "changed"}:
        return None
    pair = Pair(base=sides["base"], changed=sides["changed"])
    began = min(block.began_ms for block in blocks)
    ended = max(block.ended_ms for block in blocks)
    is_whole = all(block.entry.is_finished and _is_answered(block) for block in blocks)
    is_torn = any(began < border < ended for border in borders)
    return pair if is_whole and not is_torn else None


def _is_answered(block: Block) -> bool:
    return block.counted > 0 and block.succeeded >= _LEAST_SUCCESS * block.counted
