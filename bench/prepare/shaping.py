"""Settings as one kind of run takes them: its load, its gates, what two endpoints are compared by."""

from dataclasses import dataclass

from bench.config import Config
from bench.prepare.gates import with_fitting_gates
from bench.prepare.load import Load, find_load, without_typed_plan
from bench.prepare.pairing import levels, settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaped:
    """A run as far as its settings alone say."""

    config: Config
    load: Load | None
    notes: tuple[str, ...]
    """What of a file or the environment is left out, and why."""


def shaped(config: Config, *, is_compared: bool) -> Shaped:
    """Return the settings as this kind of run takes them, and its load.

    Args:
        config: As read.
        is_compared: Two endpoints are asked in turn.

    Raises:
        UsageFault: Options that exclude or need each other, or mean nothing in this run.
    """
    load = None if is_compared else find_load(config)
    config = settled(config) if is_compared else without_typed_plan(config, load)
    if is_compared:
        levels(config)
    config, unfit = with_fitting_gates(config, is_compared=is_compared, is_load=load is not None)
    return Shaped(config=config, load=load, notes=unfit)
