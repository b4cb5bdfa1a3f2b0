"""A load run led from this process, sent by real load processes, for tests."""

import io
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.app import Outcome, RunRequest, Session, resume_plan, run_plan
from bench.cases import CASES
from bench.clock import SystemClock
from bench.fleet.local import LocalExecutor
from bench.journal import read_journal
from bench.ledger import Ledger
from bench.model.load import Stage
from bench.model.run_config import RunConfig
from bench.model.target import Prices, Target, TargetMetadata
from bench.progress import Progress
from tests.asking import endpoint
from tests.simulator_process import TOKEN

CASE = "fixed_output_stream"
_PAUSE_S = 0.005
_LONGEST_S = 60.0


@dataclass
class LedRun:
    """One run and what it left."""

    folder: Path
    url: str
    """With ``/v1``."""
    model: str
    workers: int = 2
    prices: Prices | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    said: io.StringIO = field(default_factory=io.StringIO)

    @property
    def journal(self) -> Path:
        """The leading one."""
        return self.folder / "led.jsonl"

    @property
    def ledger(self) -> Ledger:
        """What all journals say together."""
        return read_journal(self.journal)

    def shard(self, number: int) -> Path:
        """The journal of a load process."""
        return self.folder / f"led.{number}.jsonl"

    def run(self, *stages: Stage) -> Outcome:
        """Run stages to their end."""
        metadata = TargetMetadata(prices=self.prices)
        target = Target(
            id="t", model=self.model, model_id=self.model, display_name="t", metadata=metadata
        )
        request = RunRequest(
            config=RunConfig(
                model_ids=(self.model,), url=self._address, is_paid=False, **self.settings
            ),
            targets=(target,),
            cases=(CASES[CASE],),
            output_folder=self.folder,
            stem="led",
            run_id="led-run",
            load=stages,
        )
        return run_plan(request, self._session())

    def resume(self) -> Outcome:
        """Go on with it, by new load processes."""
        return resume_plan(self.journal, {CASE: CASES[CASE]}, self._session())

    def when_it_wrote(
        self, number: int, trials: int, do: Callable[[int], object]
    ) -> threading.Thread:
        """Do something to the PID of a load process once its journal has so many trials."""
        doing = threading.Thread(target=self._wait, args=(number, trials, do), daemon=True)
        doing.start()
        return doing

    @property
    def pids(self) -> dict[int, int]:
        """PID of each load process, by its number, as the leading journal has them."""
        if not self.journal.exists():
            return {}
        records = [json.loads(line) for line in self.journal.read_bytes().splitlines()]
        return {one["number"]: one["pid"] for one in records if one["type"] == "shard"}

    @property
    def _address(self) -> str:
        return f"{self.url}/chat/completions"

    def _session(self) -> Session:
        headers = (("Authorization", f"Bearer {TOKEN}"),)
        return Session(
            endpoint=endpoint(self._address, headers=headers, secrets=(TOKEN,)),
            progress=Progress(self.said, "quiet", width=80, clock=SystemClock()),
            executor=LocalExecutor(),
            workers=self.workers,
        )

    def _wait(self, number: int, trials: int, do: Callable[[int], object]) -> None:
        waiting = threading.Event()
        for _ in range(int(_LONGEST_S / _PAUSE_S)):
            shard = self.shard(number)
            if shard.exists() and shard.read_bytes().count(b'"type":"trial"') >= trials:
                do(self.pids[number])
                return
            waiting.wait(_PAUSE_S)
