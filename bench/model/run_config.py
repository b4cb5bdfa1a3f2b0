"""The settings of a run, as its journal and its document keep them. No secrets."""

from typing import Any, Literal

from bench.model.paired import Pairing
from bench.model.record import Record


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
