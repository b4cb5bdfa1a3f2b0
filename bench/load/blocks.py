"""Which blocks of a plan are load, and what of one is still to be run."""

from collections.abc import Iterable

from bench.load.saturation import next_level
from bench.load.shapes import level_of
from bench.model.blocks import Block
from bench.model.load import Stage, StageDone, StageEnd

UNFINISHED: tuple[StageEnd, ...] = ("budget", "max_cost", "stopped", "worker_lost")
"""Ends that say nothing about the load: what resumes the run repeats the stage."""


def is_load(block: Block) -> bool:
    """Return whether the block's trials follow from stages."""
    return block.stage is not None or block.sweep is not None


def is_finished(block: Block, ended: Iterable[tuple[Stage, StageDone]]) -> bool:
    """Return whether nothing of a load block is left to be run.

    Args:
        block: A load block.
        ended: The finished stages of its target and case.
    """
    listed = list(ended)
    if block.stage is not None:
        return any(stage.number == block.stage.number for stage, _ in listed)
    return following(block, listed) is None


def following(block: Block, ended: Iterable[tuple[Stage, StageDone]]) -> float | None:
    """Return the level that a sweep tries next; ``None`` when it is through."""
    sweep = block.sweep
    if sweep is None:
        return None
    tried = [(level_of(stage), done.saturated is not None) for stage, done in ended]
    return next_level(tried, low=sweep.low, high=sweep.high, whole=sweep.by == "concurrency")
