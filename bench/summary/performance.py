"""Timings over sets of trials. Each number comes from a trial's own record; nothing is re-timed."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import is_
from typing import Literal

from bench.model.summary import (
    AdjustedSummary,
    MetricSummary,
    NumericSummary,
    PerformanceSummary,
    Rate,
)
from bench.model.trial import Timing, Trial
from bench.stats import adjusted, finite, rate, share_of, summarize_numbers
from bench.summary.selection import pinned, proven, violations

Headline = Literal["warm", "cold", "promptCached", "all"]


def metrics(trials: Sequence[Trial]) -> MetricSummary:
    """Summarize the timings of ``trials``, whatever they are."""
    timings = [trial.response.timing for trial in trials]
    buffered = [timing.buffered for timing in timings if timing.buffered is not None]

    def over(read: Callable[[Timing], float | None]) -> NumericSummary | None:
        return summarize_numbers(map(read, timings))

    return MetricSummary(
        trials=len(trials),
        headers_ms=over(lambda timing: timing.headers_ms),
        first_event_ms=over(lambda timing: timing.first_event_ms),
        first_reasoning_ms=over(lambda timing: timing.first_reasoning_ms),
        total_ms=over(lambda timing: timing.total_ms),
        ttft_ms=over(lambda timing: timing.first_content_ms),
        generation_ms=over(lambda timing: timing.generation_ms),
        visible_tokens_per_second=over(lambda timing: timing.visible_tokens_per_second),
        max_content_stall_ms=over(lambda timing: timing.max_content_stall_ms),
        average_content_chunk_characters=over(lambda t: t.average_content_chunk_characters),
        final_content_burst_ratio=over(lambda timing: timing.final_content_burst_ratio),
        buffered_rate=share_of(sum(buffered), len(buffered)),
        first_token_ms=over(lambda timing: timing.first_token_ms),
        itl_ms=_pooled(timing.itl_ms for timing in timings),
        content_itl_ms=_pooled(timing.content_itl_ms for timing in timings),
        tpot_ms=over(lambda timing: timing.tpot_ms),
        visible_tpot_ms=over(lambda timing: timing.visible_tpot_ms),
        held_back=_held_back(timings),
        coalesced_share=over(lambda timing: timing.coalesced_share),
        client_lag_ms=over(lambda timing: timing.client_lag_ms),
        gateway_overhead_ms=summarize_numbers(t.response.gateway_overhead_ms for t in trials),
    )


class Summed:
    """``metrics``, computed once for each set of trials: in most runs many names mean one set."""

    def __init__(self) -> None:
        self._found: list[tuple[Sequence[Trial], MetricSummary]] = []

    def __call__(self, trials: Sequence[Trial]) -> MetricSummary:
        """Return what was found of the same records in the same order, or find it now."""
        for known, found in self._found:
            if len(known) == len(trials) and all(map(is_, known, trials)):
                return found
        found = metrics(trials)
        self._found.append((trials, found))
        return found


def performance(trials: Sequence[Trial], *, metrics: Summed | None = None) -> PerformanceSummary:
    """Summarize performance trials: all of them, and by what their connection was.

    Args:
        trials: Counted trials of performance cases; failed ones and violations are left out here.
        metrics: What is known of sets that these trials may be; ``None`` = nothing.
    """
    metrics = metrics or Summed()
    clean = pinned(trials)
    blocks = _by_connection(clean)
    warm, cold, cached = blocks["warm"], blocks["cold"], blocks["promptCached"]
    whole = metrics(clean)
    headline, shown = headline_trials(trials)
    failed = _failed_on(headline, trials)
    return PerformanceSummary(
        **{name: getattr(whole, name) for name in MetricSummary.__struct_fields__},
        warm=metrics(warm) if warm else None,
        cold=metrics(cold) if cold else None,
        prompt_cached=metrics(cached) if cached else None,
        headline=headline,
        excluded=violations(trial for trial in trials if trial.is_valid),
        adj_ttft_ms=_adjusted((t.response.timing.first_content_ms for t in shown), failed),
        adj_total_ms=_adjusted((t.response.timing.total_ms for t in shown), failed),
    )


def headline_trials(trials: Sequence[Trial]) -> tuple[Headline | None, list[Trial]]:
    """Return the kind of connection whose answers reports and gates use, and these answers.

    Args:
        trials: As in ``performance``.
    """
    clean = list(pinned(trials))
    for kind, own in _by_connection(clean).items():
        if own:
            return kind, own
    return ("all", clean) if clean else (None, [])


def _by_connection(clean: Sequence[Trial]) -> dict[Headline, list[Trial]]:
    """Group answers by what their connection was, best first."""
    uncached = [trial for trial in clean if not _is_prompt_cached(trial)]
    return {
        "warm": [trial for trial in uncached if trial.response.connection == "warm"],
        "cold": [trial for trial in uncached if trial.response.connection == "cold"],
        "promptCached": [trial for trial in clean if _is_prompt_cached(trial)],
    }


def headline_block(summary: PerformanceSummary) -> MetricSummary:
    """Return the block that reports and gates use."""
    match summary.headline:
        case "warm":
            return summary.warm or summary
        case "cold":
            return summary.cold or summary
        case "promptCached":
            return summary.prompt_cached or summary
        case _:
            return summary


def _failed_on(headline: Headline | None, trials: Sequence[Trial]) -> int:
    """Count the failed requests that stand beside the headline's: on that connection or on none."""
    connections = [t.response.connection for t in proven(trials) if t.response.error is not None]
    if headline not in {"warm", "cold"}:
        return len(connections)
    return connections.count(headline) + connections.count(None)


def _adjusted(values: Iterable[float | None], failed: int) -> AdjustedSummary | None:
    """Return percentiles with failures as worst; ``None`` where answers lack the figure."""
    listed = list(values)
    known = finite(listed)
    return adjusted(known, failed) if len(known) == len(listed) else None


def _is_prompt_cached(trial: Trial) -> bool:
    usage = trial.response.usage
    return usage is not None and bool(usage.cached_prompt_tokens)


def _pooled(gaps: Iterable[tuple[float, ...] | None]) -> NumericSummary | None:
    return summarize_numbers(chain.from_iterable(filter(None, gaps)))


def _held_back(timings: Sequence[Timing]) -> Rate | None:
    verdicts = [timing.held_back for timing in timings if timing.held_back is not None]
    return rate(sum(verdicts), len(verdicts)) if verdicts else None
