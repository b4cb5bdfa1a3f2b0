"""How many trials of a target there are, and how they ended: of load stages by their columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.load.columns import ARRIVED, VALID
from bench.model.trial import Trial
from bench.stage_book import StageEntry
from bench.summary.selection import arrived, counted, is_cancelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of trials; all but ``warmups`` are of measured ones."""

    recorded: int
    attempted: int
    """They count in figures."""
    succeeded: int
    valid: int
    cancelled: int
    warmups: int

    @property
    def invalidated(self) -> int:
        """Touched by an incident."""
        return self.recorded - self.attempted - self.cancelled


def tally(trials: Sequence[Trial], stages: Sequence[StageEntry]) -> Tally:
    """Count one target's trials.

    Args:
        trials: All that are kept as records; those of load stages are counted in ``stages``.
        stages: The target's.
    """
    own = [trial for trial in trials if trial.stage is None]
    measured = [trial for trial in own if not trial.warmup]
    good = counted(measured)
    columns = [entry.columns for entry in stages]
    return Tally(
        recorded=len(measured) + sum(len(part.marks) for part in columns),
        attempted=len(good) + sum(part.count() for part in columns),
        succeeded=len(arrived(good)) + sum(part.count(ARRIVED) for part in columns),
        valid=sum(trial.is_valid for trial in good) + sum(part.count(VALID) for part in columns),
        cancelled=sum(map(is_cancelled, measured)) + sum(part.cancelled for part in columns),
        warmups=len(own) - len(measured) + sum(part.warmups for part in columns),
    )
