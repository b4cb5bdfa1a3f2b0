"""The records of a journal, in the order they are written, and the plan they follow.

A journal is JSON lines; every line is one of ``JournalRecord``, told apart by ``type``.
Offsets are milliseconds on one monotonic clock since the header of the (first) process.

Format history (the reader accepts each version listed, and refuses newer ones by name):
    1  first version
    2  agentic trials: ``turn`` records, which carry the money of such a trial
    3  ``refused`` records (without them a retried request would look lost, and paid for), those of
       load stages and load processes, ``vantage``, two gateways side by side

A new kind of record raises the version: an older reader would take its lines for damage and go on.
A new field with a default does not. Who goes on with an older journal leaves its header as it is:
of the newer kinds only ``vantage`` is written there unasked, and no figure stands on it.
"""

from typing import Any, Literal

from bench.model.case import CaseInfo
from bench.model.load import Stage, StageBegun, StageDone, Sweep
from bench.model.paired import Pairing, Side
from bench.model.record import Record
from bench.model.target import Target
from bench.model.trial import Refusal, Trial
from bench.model.turn import TurnTrace

JOURNAL_VERSION = 3


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


class OptionOrigin(Record, frozen=True, kw_only=True):
    """One setting of the run and where it came from."""

    value: Any
    origin: str
    """``default``, ``flag``, ``env NAME``, ``.env NAME``, ``FILE: key``, ``preset NAME``."""


class ExternalSource(Record, frozen=True, kw_only=True):
    """The external suite of a run: enough to load the same cases again."""

    suite: str
    data: str | None = None
    """Absolute path or address; ``None`` = the suite's own."""
    limit: int | None = None
    offset: int = 0
    mode: str
    unsupported: Literal["skip", "error"] = "error"
    skipped: int = 0
    """Items that could not be judged and were left out."""


class RunConfig(Record, frozen=True, kw_only=True):
    """The settings that shape the run; names as in version-2 documents. No secrets."""

    model_ids: tuple[str, ...]
    profile: str | None = None
    suite: str | None = None
    case_ids: tuple[str, ...] = ()
    not_run: dict[str, str] = {}
    """Cases that were asked for but can't be run on this machine, by id, and why."""
    user_cases: tuple[str, ...] = ()
    """Sources of the user's own cases: absolute paths, or functions as ``module:function``."""
    external_suite: ExternalSource | None = None
    mappings: tuple[str, ...] = ()
    url: str
    """Full address of the completions path."""
    api_key_env: str | None = None
    """Name of the variable that holds the key; never its value."""
    key_header: str | None = None
    """Header that carries the key where one was typed; ``None`` = as the protocol has it."""
    api: Literal["chat", "messages", "responses"] = "chat"
    dialect: str = "plain"
    http_version: Literal["1.1", "2", "auto"] = "1.1"
    proxy: str | None = None
    """What requests go through, without its password."""
    retry_429: int = 0
    """How often a request that HTTP 429 refused is sent again."""
    stream: bool = True
    runs: int | None = None
    warmup_runs: int | None = None
    seed: int = 1
    budget_ms: float | None = None
    timeout_ms: float = 60_000.0
    max_cost_usd: float | None = None
    day_allowance_usd: float | None = None
    """What the user's limit per day left this run when its process began, on the count of the
    whole run's spend; ``None`` = there is no such limit."""
    max_tokens: int | None = None
    max_turns: int | None = None
    """Of one agentic trial; ``None`` = as many as it has by default."""
    temperature: float | None = None
    reasoning_effort: str | None = None
    reference: str | None = None
    parallel_groups: int = 1
    overlap: bool = False
    allow_cache: bool = False
    allow_fallback: bool = False
    save_responses: bool = True
    header_names: tuple[str, ...] = ()
    """Names of extra request headers; their values may be secrets and are not kept."""
    body_sha256: str | None = None
    """Of the file given by ``--body``."""
    slos: tuple[str, ...] = ()
    """Objectives of one request, as typed: ``ttft=500ms``."""
    gates: tuple[str, ...] = ()
    """Limits over the run, or on the difference of two sides, as typed: ``ttft.p99=500ms``."""
    is_strict: bool = False
    """A gate that stays undecided is told by the exit code."""
    spread_ms: float | None = None
    """The blocks of the plan are begun spread over this time."""
    is_paid: bool = True
    paired: Pairing | None = None
    """Two endpoints in turn; the rest of this says how the changed arm is asked."""

    @property
    def spend_limit_usd(self) -> float | None:
        """Return the money limit that is reached first; ``None`` = there is none."""
        limits = [one for one in (self.max_cost_usd, self.day_allowance_usd) if one is not None]
        return min(limits, default=None)


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


class Started(Record, frozen=True, kw_only=True, tag="started"):
    """Written before the request is sent."""

    trial_id: str
    attempt: int = 1
    turn: int | None = None
    stage: int | None = None
    """Of a trial of a load stage."""
    offset_ms: float
    reserve_usd: float | None = None
    """Counts as spent if no trial record follows; ``None`` = no bound is known."""


class AttemptRefused(Record, frozen=True, kw_only=True, tag="refused"):
    """A request that HTTP 429 refused, written before the wait.

    Its next attempt follows, or the record of its trial or turn when nothing more could be sent.
    """

    trial_id: str
    turn: int | None = None
    refusal: Refusal


class TurnDone(Record, frozen=True, kw_only=True, tag="turn"):
    """A finished turn of an agentic trial. Its number says which earlier turns it follows."""

    trial_id: str
    attempt: int = 1
    turn: TurnTrace


class TrialDone(Record, frozen=True, kw_only=True, tag="trial"):
    """A finished trial. Of an agentic one, the money stands in its ``turn`` records."""

    attempt: int = 1
    trial: Trial


_ENDING_CLASSES = frozenset(
    {
        "gateway_killed",
        "gateway_oom",
        "gateway_stopped",
        "gateway_crash",
        "gateway_draining_or_hung",
        "gateway_suspended",
        "port_taken",
    }
)


class Incident(Record, frozen=True, kw_only=True, tag="incident"):
    """Something that happened to the gateway, this client or the machine."""

    incident_class: str
    """``gateway_killed`` ... as listed in docs/errors.md."""
    at: str
    at_ns: int | None = None
    """Monotonic reading at which it happened or was noticed."""
    noticed_ns: int | None = None
    """Monotonic reading at which the benchmark process had the notice."""
    summary: str
    """One paragraph for people: what happened, with values."""
    detail: dict[str, Any] = {}
    since_ns: int | None = None
    """Monotonic reading since when it touched whatever was in flight; ``None`` = it touched only
    the trials that are named."""
    touched_trials: tuple[str, ...] = ()

    @property
    def ends_run(self) -> bool:
        """Whether no further request can be trusted to reach the gateway that was verified."""
        return self.incident_class in _ENDING_CLASSES


class Gateway(Record, frozen=True, kw_only=True, tag="gateway"):
    """What the job knows of the gateway: build, identity, life, how it ended. Last one wins."""

    build: dict[str, Any] = {}
    identity: dict[str, Any] = {}
    events: tuple[dict[str, Any], ...] = ()
    ready_after_ms: float | None = None
    exit: dict[str, Any] | None = None
    simulated_upstream: bool | None = None
    side: Side | None = None
    """Which of two gateways; ``None`` = there is only one."""


class Sample(Record, frozen=True, kw_only=True, tag="sample"):
    """Resource use of the gateway's session at one moment."""

    at_ns: int
    values: dict[str, float]
    side: Side | None = None
    """As in ``Gateway``."""


class Vantage(Record, frozen=True, kw_only=True, tag="vantage"):
    """From where the endpoint was seen: two runs from two places are not the same measurement."""

    address: str | None = None
    """The address that was connected to."""
    connections: int = 0
    round_trip_ms: float | None = None
    """Shortest TCP connect: about one round trip. ``None`` = no connection was made."""
    round_trip_p50_ms: float | None = None
    edge: dict[str, str] = {}
    """What answers say of the edge that took the request (``cf-ray``, ``x-amz-cf-pop`` …)."""
    http_versions: tuple[Literal["1.1", "2"], ...] = ()
    """That requests went over."""
    tls: str | None = None
    """Version that was agreed on; ``None`` = plain http."""
    proxy: str | None = None
    """Between here and there; round trips are then those to the proxy."""
    dns_p50_ms: float | None = None
    """Looking the name up, median over the connections that were opened."""
    proxy_p50_ms: float | None = None
    """Until the proxy had connected on, the same."""
    tls_p50_ms: float | None = None
    """TLS handshake, the same."""


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


class ShardOpened(Record, frozen=True, kw_only=True, tag="shard"):
    """A load process began to write; what it wrote is read where this journal goes on."""

    number: int
    file: str
    """Name of its journal, in this one's folder."""
    pid: int | None = None
    host: str | None = None
    node: str | None = None
    """Of a cluster, as the cluster names it."""


class ShardClosed(Record, frozen=True, kw_only=True, tag="shard_end"):
    """A load process writes no more; without this record nobody saw its end."""

    number: int
    is_complete: bool
    """Everything that it sent has its end in its journal."""
    detail: str = ""
    """How it was lost."""


StopReason = Literal[
    "done",
    "interrupted",
    "budget",
    "max_cost",
    "gateway",
    "provider_down",
    "no_success",
    "set_aside",
    "worker_lost",
    "key_rejected",
    "disk_full",
    "killed",
]


class NotRun(Record, frozen=True, kw_only=True):
    """A planned trial that was never sent."""

    trial_id: str
    reason: str


class Footer(Record, frozen=True, kw_only=True, tag="footer"):
    """How the run (or one part of it) ended. Last one wins."""

    finished_at: str
    offset_ms: float
    reason: StopReason
    """``budget`` only when it left trials unsent; see ``not_run`` for each."""
    exit_code: int
    not_run: tuple[NotRun, ...] = ()
    budget_used_ms: dict[str, float] = {}
    """Per target: the union of intervals with a request in flight."""
    spent_usd: float | None = None
    """Known spend with warm-ups and reserves of lost answers; ``None`` = some cost is unknown."""


JournalRecord = (
    Header
    | Started
    | AttemptRefused
    | TurnDone
    | TrialDone
    | StageBegun
    | StageDone
    | Vantage
    | Incident
    | Gateway
    | Sample
    | ShardOpened
    | ShardClosed
    | Resumed
    | Footer
)
