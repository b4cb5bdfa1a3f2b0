"""What the command line hands to a use case, and what it gets back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.client.endpoint import Endpoint
from bench.executor import Executor
from bench.link import JobLink
from bench.model.blocks import Block
from bench.model.case import Case
from bench.model.header import NewLimits
from bench.model.load import Stage, Sweep
from bench.model.run_config import OptionOrigin, RunConfig
from bench.model.target import Target
from bench.plan import build_load_plan, build_plan
from bench.progress import Progress

if TYPE_CHECKING:
    from bench.agent.workplace import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """How a run is carried out, whatever it asks."""

    endpoint: Endpoint
    arms: Mapping[str, Endpoint] = field(default_factory=dict)
    """Target id → its own endpoint, where it is not ``endpoint``."""
    progress: Progress
    link: JobLink | None = None
    """The job around a local gateway; ``None`` = the endpoint was there already."""
    archive_folder: Path | None = None
    """The user's folder of runs; ``None`` = no second copy."""
    has_tags: bool = True
    """Requests carry run and trial id."""
    require_complete: bool = False
    """A run cut by time ends with exit code 5."""
    summary_width: int = 100
    """Columns of the summary table."""
    new_limits: NewLimits | None = None
    """In place of a resumed run's own; ``None`` = as recorded."""
    workbench: "Workbench | None" = None
    """Where agentic trials run and judge code; ``None`` = the run has none."""
    executor: Executor | None = None
    """Runs load processes, which then send the stages of load; ``None`` = this process does."""
    workers: int = 1
    """Load processes, where there is an executor."""
    repository: Path | None = None
    """What the worktrees of this repository share; ``None`` = none, or as it was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A new run: everything that its journal's header will say."""

    config: RunConfig
    targets: tuple[Target, ...]
    cases: tuple[Case, ...]
    output_folder: Path
    stem: str
    """File name stem of the reports, without a folder."""
    run_id: str
    options: Mapping[str, OptionOrigin] = field(default_factory=dict)
    load: tuple[Stage, ...] | Sweep | None = None
    """Stages in place of the cases' own runs."""
    is_simulated: bool = False
    """The upstream is known to be the simulator (a job's ``hello`` may say so too)."""

    def plan(self) -> tuple[Block, ...]:
        """Return the blocks of the run in the order in which they are to be run."""
        infos = tuple(case.info for case in self.cases)
        config = self.config
        if config.paired is not None:
            from bench.paired.plan import paired_blocks  # only comparisons need it

            return paired_blocks(config.paired, infos[0].id, seed=config.seed)
        if self.load is not None:
            return build_load_plan(self.targets, infos, self.load, seed=config.seed)
        return build_plan(
            self.targets,
            infos,
            seed=config.seed,
            runs=config.runs,
            warmup=config.warmup_runs,
            overlap=config.overlap,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run or a rendering ended."""

    exit_code: int
    reason: str
    """A ``StopReason``, or ``rendered``, or ``report_failed``."""
    headline: str
    """One sentence: completeness and trust."""
    files: tuple[Path, ...]
    """What was written, absolute, in the order in which it is listed to people."""
    run_id: str | None
    planned: int | None
    """Measured trials, warm-ups left out; ``None`` = a document without a plan."""
    done: int
    """Measured trials with a result that counts, failed ones included."""
    failed: int
    spent_usd: float | None
    """With warm-ups and the reserves of lost answers; ``None`` = some cost is unknown."""
    summary_text: str = ""
    """The table for people, at most 40 lines."""
    notes: tuple[str, ...] = ()
    """What else went wrong, one sentence each; nothing that was measured is touched by it."""
    journal: Path | None = None
    """The journal, for `resume`."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What ``--json`` says beside the common fields."""
    is_day_limited: bool = False
    """The user's limit per day was the one that was reached first."""
