"""How a run, or one part of it, ended."""

from typing import Literal

from bench.model.record import Record

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
    "client_limit",
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
