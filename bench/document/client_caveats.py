"""What this machine, not the gateway, may have made of the figures."""

from collections.abc import Iterable, Sequence

from bench.model.document import Caveat
from bench.model.summary import StageSummary, Summary
from bench.model.trial import Trial
from bench.stats import percentile
from bench.summary.client_rules import LAG_FLOOR_MS, LAG_SHARE, TIMES
from bench.summary.performance import headline_block
from bench.summary.selection import is_counted

_MOST_STAGES = 3


def client_limit(trials: Sequence[Trial]) -> Iterable[Caveat]:
    """Yield which limit of this machine kept requests from being sent, or made them wait."""
    said = [
        trial.response.error.message
        for trial in trials
        if trial.response.error is not None and trial.response.error.code == "client_limit"
    ]
    if said:
        requests = "1 request" if len(said) == 1 else f"{len(said)} requests"
        yield Caveat(
            code="client_limit",
            level="broken",
            text=f"{requests} could not be sent: {said[-1]}. That says nothing of the target and "
            "counts nowhere.",
        )
    waits = [
        [refusal for refusal in trial.refusals if refusal.error.code == "client_limit"]
        for trial in trials
    ]
    held = [each for each in waits if each]
    if held:
        longest_s = max(sum(refusal.wait_ms for refusal in each) for each in held) / 1000
        requests = "1 request" if len(held) == 1 else f"{len(held)} requests"
        yield Caveat(
            code="client_waited",
            level="note",
            text=f"{requests} waited up to {longest_s:,.0f} s before being sent: "
            f"{held[-1][-1].error.message}. No time of theirs includes it.",
        )


def client_saturated(summary: Summary) -> Iterable[Caveat]:
    """Yield what this client may have made of stages: times and all, or rates alone."""
    stages = (s for series in summary.load_series for s in series.stages)
    limited = [s for s in stages if s.client_saturated and s.succeeded]  # else there is no figure
    timed = [stage for stage in limited if set(stage.client_spoils) & set(TIMES)]
    rated = [stage for stage in limited if stage not in timed]
    for code, which in (("client_saturated", timed), ("client_rates", rated)):
        if which:
            yield Caveat(
                code=code,
                level="doubtful",
                text=f"This machine, not the gateway, may be what was measured in "
                f"{_stages(len(which))} ({_told(which)}). Gates on that stay "
                "undecided: measure with less load, on a quieter or larger machine.",
            )


def _told(stages: Sequence[StageSummary]) -> str:
    told = "; ".join(
        f"{s.label}: {', and '.join(s.client_saturated)}" for s in stages[:_MOST_STAGES]
    )
    more = len(stages) - _MOST_STAGES
    return f"{told}; and in {more} more" if more > 0 else told


def client_lag(trials: Sequence[Trial], summary: Summary) -> Iterable[Caveat]:
    """Yield that the typical trial was lagged by this client, where the loop made its stamps."""
    lags = sorted(
        trial.response.timing.client_lag_ms
        for trial in trials
        if is_counted(trial)
        and trial.response.error is None
        and trial.response.timing.client_lag_ms is not None
        # What the kernel stamped on arrival holds none of this process's own lag.
        and trial.response.timing.stamped_by != "kernel"
    )
    if not lags:
        return
    typical = percentile(lags, 0.5)
    medians = [
        ttft.p50
        for target in summary.targets
        if (ttft := headline_block(target.performance).ttft_ms) is not None
    ]
    bound = max(LAG_FLOOR_MS, LAG_SHARE * min(medians)) if medians else LAG_FLOOR_MS
    if typical > bound:
        yield Caveat(
            code="client_bound",
            level="doubtful",
            text=f"This machine was busy: the client itself lagged {typical:.1f} ms in the median "
            f"trial (at most {lags[-1]:.1f} ms; {bound:.1f} ms would be fine). Times include it; "
            "measure again on a quiet machine.",
        )


def _stages(count: int) -> str:
    return "1 load stage" if count == 1 else f"{count:,} load stages"
