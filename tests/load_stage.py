"""A run under load on fakes: from stages to what stands in its journal."""

import asyncio
from typing import Any

from bench.model.blocks import Block
from bench.model.load import Stage, StageBegun, StageDone, Sweep
from tests.run_stage import Stage as RunStage


def load_block(
    stage: Stage | None = None, sweep: Sweep | None = None, target_id: str = "a"
) -> Block:
    """Return a block of load for the usual case."""
    return Block(
        target_id=target_id,
        case_id="c",
        alone=True,
        concurrency=1,
        trials=(),
        stage=stage,
        sweep=sweep,
    )


class LoadStage(RunStage):
    """One run under load; time passes when somebody sleeps and when an answer comes."""

    def __init__(self, *blocks: Block, **settings: Any) -> None:
        super().__init__(*blocks, **settings)
        self.sleep = self._pass

    async def _pass(self, seconds: float) -> None:
        self.clock.advance(seconds * 1e3)
        await asyncio.sleep(0)

    @property
    def ends(self) -> list[StageDone]:
        """The ends of stages, in the order in which they were written."""
        return [record for record in self.journal.records if isinstance(record, StageDone)]

    @property
    def begun(self) -> list[StageBegun]:
        """The beginnings of stages."""
        return [record for record in self.journal.records if isinstance(record, StageBegun)]
