"""What a ledger keeps of a stage's trials: columns of numbers, not records.

About 100 bytes a trial, so that a million of them fit beside everything else; a figure that was
not measured is NaN here and ``None`` as soon as it leaves.
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence

from bench.load.sketch import Sketch
from bench.load.slo import Slo, kept_by
from bench.model.trial import Trial

ARRIVED, VALID, PINNED, INSIDE, WARM, COLD, CACHED, OUT = (1 << bit for bit in range(8))
"""Marks of a row. ``OUT``: set aside or cancelled, counts nowhere."""

_NAN = math.nan


class StageColumns:
    """The measured trials of one stage, in the order in which they ended.

    Args:
        slos: Held against each trial as it comes.
    """

    def __init__(self, slos: Sequence[Slo] = ()) -> None:
        self.slos = tuple(slos)
        self.kept = [0] * len(slos)
        """Per objective: trials that keep it."""
        self.warmups = 0
        self.set_aside = 0
        self.cancelled = 0
        self.marks = bytearray()
        self.numbers: array[int] = array("q")
        """``Trial.run`` of each."""
        self.started_ms: array[float] = array("d")
        self.ended_ms: array[float] = array("d")
        self.due_ms: array[float] = array("d")
        self.ttft_ms: array[float] = array("d")
        self.first_token_ms: array[float] = array("d")
        self.total_ms: array[float] = array("d")
        self.tpot_ms: array[float] = array("d")
        self.gap_ms: array[float] = array("d")
        """Mean gap between token chunks of each stream."""
        self.speed: array[float] = array("d")
        """Tokens per second of the stream."""
        self.tokens: array[float] = array("d")
        self.sent_ms: array[float] = array("d")
        self.gaps = Sketch()
        """Between token chunks, of all pinned trials."""
        self.errors: Counter[str] = Counter()

    def add(self, trial: Trial) -> None:
        """Take one measured trial as it was recorded."""
        is_out = trial.outcome == "cancelled" or trial.invalidated is not None
        is_pinned = trial.is_valid and trial.violation is None
        marks = _marks(trial, is_out=is_out, is_pinned=is_pinned)
        timing, usage = trial.response.timing, trial.response.usage
        if not is_out and self.slos:
            kept = kept_by(self.slos, trial)
            self.kept = [count + is_kept for count, is_kept in zip(self.kept, kept, strict=True)]
            marks |= INSIDE if all(kept) else 0
        self.set_aside += is_out and trial.outcome != "cancelled"
        self.cancelled += is_out and trial.outcome == "cancelled"
        self.marks.append(marks)
        self.numbers.append(trial.run)
        self.started_ms.append(trial.started_offset_ms)
        self.ended_ms.append(trial.finished_offset_ms)
        self.due_ms.append(_number(trial.planned_offset_ms))
        self.ttft_ms.append(_number(timing.first_content_ms))
        self.first_token_ms.append(_number(timing.first_token_ms))
        self.total_ms.append(_number(timing.total_ms))
        self.tpot_ms.append(_number(timing.tpot_ms))
        self.gap_ms.append(_mean(timing.itl_ms))
        self.speed.append(_number(timing.visible_tokens_per_second))
        self.sent_ms.append(_number(timing.sent_ms))
        self.tokens.append(_number(usage.completion_tokens if usage else None))
        if trial.response.error is not None and not is_out:
            self.errors[trial.response.error.code] += 1
        if is_pinned and not is_out:
            self.gaps.extend(timing.itl_ms or ())

    def set_trials_aside(self, numbers: frozenset[int]) -> None:
        """Mark trials that an incident found out later."""
        for row, number in enumerate(self.numbers):
            if number in numbers and not self.marks[row] & OUT:
                self.marks[row] |= OUT
                self.set_aside += 1

    def rows(self, wanted: int = 0, unwanted: int = 0) -> Iterator[int]:
        """Yield the rows that count, with every mark of ``wanted`` and none of ``unwanted``."""
        avoided = unwanted | OUT
        for row, marks in enumerate(self.marks):
            if not marks & avoided and marks & wanted == wanted:
                yield row

    def arrived_ms(self, row: int) -> float:
        """Return when the last byte of a row's answer came; of a failed one, when it was over."""
        total = self.total_ms[row]
        return self.ended_ms[row] if math.isnan(total) else self.started_ms[row] + total

    def count(self, wanted: int = 0) -> int:
        """Return how many rows count and have every mark of ``wanted``."""
        return sum(1 for _ in self.rows(wanted))


def _marks(trial: Trial, *, is_out: bool, is_pinned: bool) -> int:
    marks = OUT if is_out else 0
    marks |= ARRIVED if trial.response.error is None else 0
    marks |= VALID if trial.is_valid else 0
    marks |= PINNED if is_pinned else 0
    marks |= {"warm": WARM, "cold": COLD, None: 0}[trial.response.connection]
    usage = trial.response.usage
    return marks | (CACHED if usage is not None and usage.cached_prompt_tokens else 0)


def _mean(values: Sequence[float] | None) -> float:
    return sum(values) / len(values) if values else _NAN


def _number(value: float | None) -> float:
    return _NAN if value is None else float(value)
