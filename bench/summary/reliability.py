"""How often requests came back whole, and what went wrong otherwise."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from bench.model.case import CaseInfo
from bench.model.summary import Rate, ReliabilitySummary
from bench.model.trial import Trial
from bench.stats import rate
from bench.summary.selection import arrived, is_kind, is_truncated

TIMEOUTS = frozenset({"TimeoutError", "AbortError"})
MALFORMED = frozenset({"invalid_stream_json", "stream_read_error"})
TOO_MANY_REQUESTS = 429


def reliability(trials: Sequence[Trial], cases: Mapping[str, CaseInfo]) -> ReliabilitySummary:
    """Count outcomes over counted trials of every kind."""
    untimed = [trial for trial in arrived(trials) if not is_kind(trial, cases, "performance")]

    def count(holds: Callable[[Trial], bool]) -> Rate:
        return rate(sum(map(holds, trials)), len(trials))

    success = count(lambda trial: trial.response.error is None)
    timeout = count(lambda trial: _seed_code(trial) in TIMEOUTS)
    rate_limit = count(_is_rate_limited)
    truncated = count(is_truncated)
    malformed = count(lambda trial: _seed_code(trial) in MALFORMED)
    errors = [trial.response.error for trial in trials if trial.response.error is not None]
    return ReliabilitySummary(
        success_rate=success.rate,
        timeout_rate=timeout.rate,
        rate_limit_rate=rate_limit.rate,
        truncated_rate=truncated.rate,
        malformed_stream_rate=malformed.rate,
        errors_by_code=dict(sorted(Counter(error.seed_code for error in errors).items())),
        errors_by_cause=dict(sorted(Counter(error.code for error in errors).items())),
        success=success,
        timeout=timeout,
        rate_limit=rate_limit,
        truncated=truncated,
        malformed_stream=malformed,
        truncated_answers=rate(sum(map(is_truncated, untimed)), len(untimed)),
    )


def _seed_code(trial: Trial) -> str | None:
    error = trial.response.error
    return None if error is None else error.seed_code


def _is_rate_limited(trial: Trial) -> bool:
    error = trial.response.error
    return error is not None and (
        error.status == TOO_MANY_REQUESTS or error.seed_code == "http_429"
    )
