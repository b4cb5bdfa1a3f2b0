"""How often requests came back whole, and what went wrong otherwise."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from bench.model.case import CaseInfo
from bench.model.summary import Rate, ReliabilitySummary
from bench.model.trial import Refusal, Response, Trial
from bench.stats import rate
from bench.summary.selection import arrived, counted, is_kind, is_truncated

TIMEOUTS = frozenset({"TimeoutError", "AbortError"})
MALFORMED = frozenset({"invalid_stream_json", "stream_read_error"})
TOO_MANY_REQUESTS = 429
_MOST_SAID = 160


def reliability(trials: Sequence[Trial], cases: Mapping[str, CaseInfo]) -> ReliabilitySummary:
    """Count outcomes over counted trials of every kind.

    Of a request that was sent again after HTTP 429, the first attempt counts: a run that waits until
    it is served must not look as if it had been served at once.
    """
    retried = [trial for trial in trials if _refused(trial)]
    served = sum(trial.response.error is None for trial in trials)
    after_retries = rate(served, len(trials)) if retried else None
    trials = [_first_attempt(trial) for trial in trials]
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
        retried_requests=sum(len(_refused(trial)) for trial in retried),
        success_after_retries=after_retries,
        truncated_answers=rate(sum(map(is_truncated, untimed)), len(untimed)),
    )


def commonest_failure(trials: Iterable[Trial]) -> str | None:
    """Return the message of most failures, the first of equals, cut to 160 characters.

    Of trials that count: what an incident cut short says nothing of the target.
    """
    errors = (trial.response.error for trial in counted(trials))
    said = Counter(error.message for error in errors if error is not None and error.message)
    if not said:
        return None
    ((message, _),) = said.most_common(1)
    return message if len(message) <= _MOST_SAID else message[: _MOST_SAID - 1] + "…"


def _first_attempt(trial: Trial) -> Trial:
    """Return the trial as it would be without a retry."""
    refused = _refused(trial)
    return replace(trial, response=Response(error=refused[0].error)) if refused else trial


def _refused(trial: Trial) -> tuple[Refusal, ...]:
    """Return the attempts that the endpoint refused: what this machine held back says nothing."""
    return tuple(one for one in trial.refusals if one.error.code != "client_limit")


def _seed_code(trial: Trial) -> str | None:
    error = trial.response.error
    return None if error is None else error.seed_code


def _is_rate_limited(trial: Trial) -> bool:
    error = trial.response.error
    return error is not None and (
        error.status == TOO_MANY_REQUESTS or error.seed_code == "http_429"
    )
