"""The result document: everything that was seen and what it amounts to, in one JSON object.

A superset of version 2 of the seed system's document (same names, same meaning), so that what reads
that reads this; ``schemaVersion`` therefore stays 2 and our own format counts in ``generator``.

Format history (``generator.documentVersion``; readers accept each, and refuse newer ones by name):
    1  first version
    2  an incident's class is called ``class``; before it was ``incidentClass``
"""

from typing import Any, Literal

from bench.model.case import CaseInfo, CaseKind, Difficulty
from bench.model.footer import NotRun, StopReason
from bench.model.header import Environment
from bench.model.record import Record
from bench.model.resources import GatewayResources
from bench.model.run_config import OptionOrigin, RunConfig
from bench.model.steps import Started
from bench.model.summary import Summary
from bench.model.surroundings import Gateway, Incident, Vantage
from bench.model.target import Prices, Target, TargetMetadata
from bench.model.trial import Evaluation, Response, ToolCall, Trial, Usage
from bench.model.turn import TurnTrace

SCHEMA_VERSION = 2
DOCUMENT_VERSION = 2
GENERATOR = "gateway-bench"


class Generator(Record, frozen=True, kw_only=True):
    """The program that wrote the document."""

    name: str
    version: str
    document_version: int = DOCUMENT_VERSION


class DocumentConfig(RunConfig, frozen=True, kw_only=True):
    """The run's settings, and the names that version 2 has for some of them."""

    concurrency: int = 1
    """Groups side by side."""
    include_responses: bool = True
    reference_target_id: str | None = None
    disable_cache: bool = True
    disable_fallback: bool = True
    request: dict[str, Any] = {}
    """What was laid over every case's request."""


class DocumentMetadata(TargetMetadata, frozen=True, kw_only=True):
    """What the catalogue says of a target, prices also under their version-2 names."""

    input_price: float | None = None
    output_price: float | None = None
    request_price: float | None = None
    max_output: int | None = None
    external_id: str | None = None
    """``upstream_model``."""


class DocumentTarget(Target, frozen=True, kw_only=True):
    """A target with version-2 metadata."""

    metadata: DocumentMetadata = DocumentMetadata()


class CalledFunction(Record, frozen=True, kw_only=True):
    """Name and arguments where version 2 has them."""

    name: str
    arguments: str


class DocumentToolCall(ToolCall, frozen=True, kw_only=True):
    """A tool call, also in the shape of chat completions."""

    type: Literal["function"] = "function"
    function: CalledFunction | None = None


class DocumentResponse(Response, frozen=True, kw_only=True):
    """A response; version-2 readers take ``usage`` for an object that is always there."""

    tool_calls: tuple[DocumentToolCall, ...] = ()
    usage: Usage = Usage()
    agent: dict[str, Any] | None = None


class DocumentEvaluation(Evaluation, frozen=True, kw_only=True, omit_defaults=True):
    """A verdict; version-2 readers take an optional field that is there for one that has a value."""


class DocumentTrial(Trial, frozen=True, kw_only=True):
    """A trial with the version-2 fields that describe its case."""

    response: DocumentResponse
    evaluation: DocumentEvaluation | None = None
    kind: CaseKind | None = None
    """``None`` when the run's cases do not list the trial's."""
    category: str | None = None
    dimension: str | None = None
    difficulty: Difficulty | None = None
    turns: tuple[TurnTrace, ...] = ()
    """Of an agentic trial: what was said and done, turn by turn."""


class TargetCompleteness(Record, frozen=True, kw_only=True):
    """How much of one target's plan was measured; warm-ups are not in these numbers."""

    target_id: str
    planned: int | None
    """``None`` where no plan was recorded."""
    done: int
    """Answered or failed on the provider's side: what counts in figures."""
    failed: int
    """Part of ``done``: the request ended in an error."""
    invalidated: int = 0
    cancelled: int = 0
    lost: int = 0
    """Sent, and no end was recorded."""
    not_run: int = 0


class Completeness(Record, frozen=True, kw_only=True):
    """How much of the plan was measured, and why not more."""

    planned: int | None
    done: int
    failed: int
    is_complete: bool | None
    """``None`` where no plan was recorded."""
    reason: StopReason | None
    """``None`` when no process wrote how the run ended."""
    exit_code: int | None
    resumed: int = 0
    """How often the run was taken up again."""
    damaged_lines: int = 0
    """Journal lines that could not be read."""
    in_flight: int | None = None
    """Requests under way of a run that is still being measured; ``None`` = no process measures."""
    targets: tuple[TargetCompleteness, ...] = ()


CaveatLevel = Literal["broken", "doubtful", "note"]


class Caveat(Record, frozen=True, kw_only=True):
    """One reason to trust the figures less, worst first in a document."""

    code: str
    level: CaveatLevel
    """``broken``: figures are missing; ``doubtful``: figures may mislead; ``note``: good to know."""
    text: str
    """Plain words, with values and what to do next."""


class RunSpend(Record, frozen=True, kw_only=True):
    """Everything that was sent, in US dollars: warm-ups, repeats and lost answers included."""

    total_usd: float | None
    """``None`` when the cost of one request is unknown."""
    known_usd: float
    """A lower bound."""
    unknown_requests: int
    reserved_usd: float
    """Part of ``known_usd`` that stands for answers whose bill nobody saw."""
    by_source: dict[str, float] = {}
    """``known_usd`` by who says so, as in ``EfficiencySummary.spend_by_source``."""


class PriceSnapshot(Record, frozen=True, kw_only=True):
    """The prices that costs were computed with."""

    as_of: str | None
    """Latest date among the prices, ISO 8601."""
    targets: dict[str, Prices]


class DocumentGateway(Gateway, frozen=True, kw_only=True):
    """The gateway, and what its processes used while they were measured."""

    resources: GatewayResources | None = None


class Document(Record, frozen=True, kw_only=True):
    """One run."""

    schema_version: int = SCHEMA_VERSION
    generator: Generator | None = None
    """``None``: written by the seed system."""
    run_id: str | None = None
    stem: str | None = None
    """File name stem of the reports."""
    started_at: str
    finished_at: str
    duration_ms: float
    simulated: bool = False
    """The upstream was the simulator: times and scores say nothing about a real model."""
    completeness: Completeness
    trust: tuple[Caveat, ...] = ()
    spend: RunSpend
    config: DocumentConfig
    options: dict[str, OptionOrigin] = {}
    environment: Environment | None = None
    vantage: Vantage | None = None
    """Address and round trip of the measuring machine, where they were recorded."""
    sandbox: dict[str, Any] | None = None
    """How the code of agentic trials was held: level, walls, each protection; ``None`` = none ran."""
    gateway: DocumentGateway | None = None
    incidents: tuple[Incident, ...] = ()
    not_run: tuple[NotRun, ...] = ()
    possibly_billed: tuple[Started, ...] = ()
    price_snapshot: PriceSnapshot | None = None
    case_text_hashes: dict[str, str] = {}
    plan_hash: str | None = None
    metric_version: int | None = None
    budget_used_ms: dict[str, float] = {}
    """Per target: union of the intervals in which a request was in flight."""
    targets: tuple[DocumentTarget, ...]
    cases: tuple[CaseInfo, ...]
    summary: Summary
    trials: tuple[DocumentTrial, ...]
