"""How a run ended, as a reason and an exit code. Pure."""

import signal
from collections import defaultdict
from collections.abc import Iterable, Sequence

from bench.model.agent import CUT_STOPS
from bench.model.footer import StopReason
from bench.model.record import Value
from bench.model.trial import Trial

DOWN_AFTER = 3
"""A target whose last three or more trials all ended in its provider's error is down."""

_PROVIDER_ERRORS = frozenset(
    {
        "connect_refused",
        "connect_failed",
        "connect_reset",
        "dns_error",
        "tls_error",
        "connect_timeout",
        "header_timeout",
        "idle_timeout",
        "total_timeout",
        "rate_limited",
        "upstream_stream_error",
        "stream_incomplete",
        "invalid_stream_json",
        "invalid_http",
    }
)

_EXIT_CODES: dict[StopReason, int] = {
    "done": 0,
    "budget": 0,
    "key_rejected": 2,
    "gateway": 4,
    "max_cost": 5,
    "provider_down": 5,
    "no_success": 5,
    "set_aside": 5,
    "worker_lost": 5,
    "client_limit": 5,
    "disk_full": 5,
    "killed": 5,
    "interrupted": 130,
}


class Fact(Value, frozen=True, kw_only=True):
    """What of a trial decides how the run ended."""

    target_id: str
    warmup: bool
    finished_offset_ms: float
    error_code: str | None
    is_invalidated: bool
    is_cut: bool = False
    """An agentic trial that ended between two turns: nothing went wrong, and it is not whole."""

    @property
    def is_success(self) -> bool:
        """Whether it proves that the target answers."""
        return self.error_code is None and not self.warmup

    @classmethod
    def of(cls, trial: Trial) -> "Fact":
        """Return the facts of a finished trial."""
        return cls(
            target_id=trial.target_id,
            warmup=trial.warmup,
            finished_offset_ms=trial.finished_offset_ms,
            error_code=None if trial.response.error is None else trial.response.error.code,
            is_invalidated=trial.invalidated is not None,
            is_cut=trial.agent is not None and trial.agent.stop_reason in CUT_STOPS,
        )


def is_provider_error(code: str | None) -> bool:
    """Say whether an error is the provider's: not the answer's content, not our request's."""
    return code is not None and (code in _PROVIDER_ERRORS or code.startswith("http_5"))


def concluded(target_ids: Sequence[str], facts: Iterable[Fact], *, is_cut: bool) -> StopReason:
    """Return the reason of a run that nobody stopped.

    Args:
        target_ids: Targets for which anything was planned.
        facts: One per trial id, its last record.
        is_cut: A time budget left trials unsent.
    """
    by_target: dict[str, list[Fact]] = defaultdict(list)
    facts = tuple(facts)
    for fact in sorted(facts, key=lambda fact: fact.finished_offset_ms):
        if not fact.is_invalidated or fact.is_cut:
            by_target[fact.target_id].append(fact)
    if any(_is_down(by_target[target_id]) for target_id in target_ids):
        return "provider_down"
    if not all(_has_success(by_target[target_id]) for target_id in target_ids):
        return "no_success"
    if any(fact.is_invalidated and not (fact.is_cut or fact.warmup) for fact in facts):
        return "set_aside"
    return "budget" if is_cut or any(fact.is_cut for fact in facts) else "done"


def exit_code(
    reason: StopReason, *, signal_number: int | None = None, require_complete: bool = False
) -> int:
    """Return the exit code of ``reason``.

    Args:
        reason: Why the run ended.
        signal_number: What interrupted it; only ``SIGTERM`` makes a difference (143).
        require_complete: A cut by time counts as incomplete.
    """
    if reason == "interrupted" and signal_number == signal.SIGTERM:
        return 128 + signal.SIGTERM
    if reason == "budget" and require_complete:
        return 5
    return _EXIT_CODES[reason]


def _is_down(facts: Sequence[Fact]) -> bool:
    last = facts[-DOWN_AFTER:]
    return len(last) == DOWN_AFTER and all(is_provider_error(fact.error_code) for fact in last)


def _has_success(facts: Sequence[Fact]) -> bool:
    return any(fact.is_success for fact in facts)
