"""The plan of a run: the trials it asks for, in blocks that belong together."""

from bench.model.load import Stage, Sweep
from bench.model.record import Record


class PlannedTrial(Record, frozen=True, kw_only=True):
    """One trial that the plan asks for."""

    id: str
    """``TARGET|CASE|r1``; warm-ups ``TARGET|CASE|w1``. Unique in the run, stable over resumes."""
    target_id: str
    case_id: str
    run: int
    warmup: bool = False
    seed: int
    stage: int | None = None
    """Number of its load stage; the ids of a stage are ``TARGET|CASE|s1r1`` and ``…|s1w1``."""


class Block(Record, frozen=True, kw_only=True):
    """Trials of one case and target that belong together.

    Blocks run one after another in plan order, except that up to ``parallel_groups`` neighbouring
    blocks with ``alone=False`` may run side by side. Inside a block up to ``concurrency`` trials
    are in flight; its warm-ups end before its first measured trial is sent.
    """

    target_id: str
    case_id: str
    alone: bool
    concurrency: int
    trials: tuple[PlannedTrial, ...]
    stage: Stage | None = None
    """A load stage, whose trials follow from it while it runs; ``trials`` is empty."""
    sweep: Sweep | None = None
    """Load stages, each chosen by how the ones before it ended; ``trials`` is empty."""
