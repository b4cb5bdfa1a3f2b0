"""What a process writes before its first request: a new journal's header, or that it goes on.

Format history (the reader accepts each version listed, and refuses newer ones by name):
    1  first version
    2  agentic trials: ``turn`` records, which carry the money of such a trial
    3  ``refused`` records (without them a retried request would look lost, and paid for), those of
       load stages and load processes, ``vantage``, two gateways side by side
    4  an incident's class is called ``class``; before it was ``incidentClass``

A new kind of record raises the version: an older reader would take its lines for damage and go on.
A new field with a default does not. Who goes on with an older journal leaves its header as it is:
of the newer kinds only ``vantage`` is written there unasked, and no figure stands on it.
"""

from typing import Any

from bench.model.blocks import Block
from bench.model.case import CaseInfo
from bench.model.record import Record
from bench.model.run_config import OptionOrigin, RunConfig
from bench.model.target import Target

JOURNAL_VERSION = 4


class Environment(Record, frozen=True, kw_only=True):
    """Where the run was made."""

    tool_version: str
    python: str
    host: str
    system: str
    cpu_count: int | None = None
    load_average: tuple[float, float, float] | None = None


class Header(Record, frozen=True, kw_only=True, tag="header"):
    """First record of a journal: enough to render and to resume without anything else."""

    schema_version: int = JOURNAL_VERSION
    run_id: str
    started_at: str
    """UTC, ISO 8601 with milliseconds."""
    stem: str
    """File name stem of the reports."""
    config: RunConfig
    options: dict[str, OptionOrigin] = {}
    targets: tuple[Target, ...]
    cases: tuple[CaseInfo, ...]
    plan: tuple[Block, ...]
    plan_hash: str
    environment: Environment
    metric_version: int = 1
    simulated: bool = False
    """True when the upstream is known to be the simulator."""
    sandbox: dict[str, Any] | None = None
    """How the code of agentic trials was held: level, walls, each protection; ``None`` = none ran."""
    shard: int | None = None
    """Number of the load process whose records these are: one file of several of a run."""
    launch: dict[str, Any] | None = None
    """For a journal of ``run``: how the gateway is started again (no secrets)."""


class NewBudget(Record, frozen=True, kw_only=True):
    """A time budget that takes the place of the header's; what was used before counts in it."""

    limit_ms: float | None
    """Per target; ``None`` = no limit."""


class NewLimits(Record, frozen=True, kw_only=True):
    """Limits that a resuming process was given; each ``None`` = as before."""

    budget: NewBudget | None = None
    max_cost_usd: float | None = None
    """For the whole run; what was spent before counts in it."""
    day_allowance_usd: float | None = None
    """As in ``RunConfig``, of the resuming process; ``None`` = no limit per day, whatever held
    before."""


class Resumed(Record, frozen=True, kw_only=True, tag="resumed"):
    """A later process goes on with this journal."""

    at: str
    offset_ms: float
    """Where this process's offsets begin: the end of what was recorded before."""
    environment: Environment
    limits: NewLimits = NewLimits()
