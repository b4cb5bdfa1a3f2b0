"""The seam behind which load processes run: spawned ones on this machine, actors on a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench.model.fleet import Order, Report, Setup
from bench.model.record import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What every load process is given besides its ``Setup``. It holds the secrets of the run.

    Never written down, logged, or handed over in a command line.
    """

    folder: Path
    """Of the journal: shards are written or collected here."""
    stem: str
    """Of the journal: the shard of process N is ``STEM.N.jsonl``."""
    secret_words: bytes = field(repr=False)
    """The endpoints with their headers, as ``bench.fleet.equipment`` packs and unpacks them."""

    def shard(self, number: int) -> Path:
        """Return where the records of a load process are, on the leader's machine."""
        return self.folder / f"{self.stem}.{number}.jsonl"


class Whereabouts(Value, frozen=True, kw_only=True):
    """Where a load process runs."""

    number: int
    pid: int | None
    host: str
    node: str | None = None
    """Of a cluster, as the cluster names it."""
    shares_clock: bool = False
    """Its monotonic clock is the leader's (same machine, same boot)."""


class LoadProcess(Protocol):
    """One load process, wherever it runs. The words are those of ``bench.model.fleet``."""

    @property
    def whereabouts(self) -> Whereabouts:
        """Where it runs."""
        ...

    async def tell(self, order: Order) -> None:
        """Hand over one word, in order.

        Raises:
            LoadProcessLost: It can't be reached.
        """
        ...

    async def hear(self) -> Report:
        """Return the next word; waits for it. Its shard has every record that came before the word.

        Raises:
            LoadProcessLost: It is gone; what it wrote before is in its shard as far as it came.
        """
        ...


class Executor(Protocol):
    """Runs load processes."""

    async def start(self, setups: Sequence[Setup], equipment: Equipment) -> Sequence[LoadProcess]:
        """Start one process for each setup and tell it that; ``Ready`` is still to be heard.

        Raises:
            LoadProcessLost: One could not be started; none is left.
        """
        ...

    async def close(self) -> None:
        """End what still runs, by identity, and return when all are gone; twice is once."""
        ...
