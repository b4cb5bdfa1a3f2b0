"""Agentic figures of one target: how many tasks it solves, how it works, and what that costs.

A trial without a verdict (cut by budget, money, the user or an incident, or ended by a provider's
error), and one that another provider answered, is listed and outside the solve rate. One that took
too many turns is a failure.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import comb
from typing import Any

from bench.model.agent import AgentRun
from bench.model.agent_summary import AgentDifficulty, AgentSummary, PassEstimate
from bench.model.case import CaseInfo
from bench.model.summary import NumericSummary, Rate
from bench.model.trial import Trial
from bench.resampling import bootstrap_over_cases
from bench.stats import mean_of, rate, share_of, summarize_numbers
from bench.summary.efficiency import cost_of
from bench.summary.selection import by_key, counted, is_kind, passed, proven

NOT_PINNED = "not_pinned"
"""Another provider or model answered, or a cache: what was solved is not the target's."""


def agent_summary(trials: Iterable[Trial], cases: Mapping[str, CaseInfo]) -> AgentSummary | None:
    """Return the agentic figures, ``None`` where no agentic trial was recorded.

    Args:
        trials: All of one target, set-aside ones included.
        cases: By id.
    """
    own = [trial for trial in trials if is_kind(trial, cases, "agentic") and not trial.warmup]
    if not own:
        return None
    counting = counted(own)
    scored = [trial for trial in proven(counting) if _is_scored(trial)]
    judged = {trial.id for trial in scored}
    by_task = by_key(scored, lambda trial: trial.case_id)
    verdicts = {task: [passed(trial) for trial in group] for task, group in by_task.items()}
    solved, cost = sum(map(passed, scored)), cost_of(counting)
    return AgentSummary(
        attempted=len(counting),
        solved=solved,
        solve_rate=share_of(solved, len(scored)),
        scored=len(scored),
        tasks=len(by_task),
        solve_rate_interval=bootstrap_over_cases(verdicts),
        unscored=dict(Counter(_why_unscored(trial) for trial in own if trial.id not in judged)),
        stop_reasons=dict(Counter(map(_stop, own))),
        passes=pass_estimates(verdicts.values()),
        difficulties=_difficulties(verdicts, cases),
        self_verified=_share_of_trials(scored, lambda run: run.self_verified),
        first_turn_ttft_ms=summarize_numbers(t.response.timing.first_content_ms for t in counting),
        first_turn_first_token_ms=summarize_numbers(
            trial.response.timing.first_token_ms for trial in counting
        ),
        prompt_tokens=_tokens(counting, "prompt_tokens"),
        completion_tokens=_tokens(counting, "completion_tokens"),
        cost_usd=cost,
        cost_per_solved_usd=None if cost is None or not solved else cost / solved,
        **_work([trial.agent for trial in counting if trial.agent is not None]),
    )


def pass_estimates(verdicts: Iterable[Sequence[bool]]) -> tuple[PassEstimate, ...]:
    """Return pass@k and pass^k by the unbiased estimators, for each k that some task was run.

    Of n runs of a task, c solved it: pass@k = 1 - C(n-c, k) / C(n, k) (Chen et al. 2021), pass^k =
    C(c, k) / C(n, k) (Yao et al. 2024). Tasks with fewer than k runs say nothing about k.
    """
    tallies = [(len(runs), sum(runs)) for runs in verdicts]
    most = max((count for count, _ in tallies), default=0)
    estimates = []
    for k in range(1, most + 1):
        able = [(count, right) for count, right in tallies if count >= k]
        at_least_one = mean_of(1 - comb(n - c, k) / comb(n, k) for n, c in able)
        every_one = mean_of(comb(c, k) / comb(n, k) for n, c in able)
        if at_least_one is not None and every_one is not None:
            estimates.append(
                PassEstimate(k=k, tasks=len(able), pass_at_k=at_least_one, pass_hat_k=every_one)
            )
    return tuple(estimates)


def _work(runs: Sequence[AgentRun]) -> dict[str, Any]:
    """Return the figures on how the trials went."""
    calls = sum(run.tool_calls for run in runs)
    wall_ms = sum(run.wall_ms for run in runs)

    def over(figure: Callable[[AgentRun], float | None]) -> NumericSummary | None:
        return summarize_numbers(map(figure, runs))

    return {
        "turns": over(lambda run: run.turns),
        "tool_calls": over(lambda run: run.tool_calls),
        "invalid_calls": rate(sum(run.invalid_calls for run in runs), calls),
        "repeated_calls": rate(sum(run.repeated_calls for run in runs), calls),
        "wall_ms": over(lambda run: run.wall_ms),
        "model_ms": over(lambda run: run.model_ms),
        "tool_ms": over(lambda run: run.tool_ms),
        "own_ms": over(lambda run: run.own_ms),
        "own_ms_per_turn": over(lambda run: share_of(run.own_ms, run.turns)),
        "model_share": share_of(sum(run.model_ms for run in runs), wall_ms),
        "tool_share": share_of(sum(run.tool_ms for run in runs), wall_ms),
        "own_share": share_of(sum(run.own_ms for run in runs), wall_ms),
        "sandbox_levels": dict(Counter(run.sandbox_level or "unknown" for run in runs)),
    }


def _difficulties(
    verdicts: Mapping[str, Sequence[bool]], cases: Mapping[str, CaseInfo]
) -> tuple[AgentDifficulty, ...]:
    found = []
    levels = dict.fromkeys(case.difficulty for case in cases.values() if case.id in verdicts)
    order = {"easy": 0, "medium": 1, "hard": 2, "expert": 3}
    for level in sorted(filter(None, levels), key=lambda one: order[one]):
        own = {task: runs for task, runs in verdicts.items() if cases[task].difficulty == level}
        scored, solved = sum(map(len, own.values())), sum(map(sum, own.values()))
        found.append(
            AgentDifficulty(
                difficulty=level,
                tasks=len(own),
                scored=scored,
                solved=solved,
                solve_rate=share_of(solved, scored),
                interval=bootstrap_over_cases(own),
            )
        )
    return tuple(found)


def _share_of_trials(trials: Sequence[Trial], holds: Callable[[AgentRun], bool]) -> Rate:
    runs = [trial.agent for trial in trials if trial.agent is not None]
    return rate(sum(map(holds, runs)), len(runs))


def _tokens(trials: Iterable[Trial], name: str) -> NumericSummary | None:
    usages = (trial.response.usage for trial in trials)
    return summarize_numbers(getattr(usage, name) for usage in usages if usage is not None)


def _is_scored(trial: Trial) -> bool:
    return trial.evaluation is not None and trial.evaluation.passed is not None


def _stop(trial: Trial) -> str:
    return "unknown" if trial.agent is None else trial.agent.stop_reason


def _why_unscored(trial: Trial) -> str:
    """Return why a trial is outside the solve rate."""
    return NOT_PINNED if _is_scored(trial) and trial.invalidated is None else _stop(trial)
