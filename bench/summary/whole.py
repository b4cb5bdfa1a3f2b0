"""Puts the figures of a run together, target by target and case by case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bench.charges import Spend
from bench.model.case import CaseInfo
from bench.model.summary import (
    CaseSummary,
    FingerprintSummary,
    LoadSummary,
    Summary,
    TargetSummary,
)
from bench.model.target import Target
from bench.model.trial import Trial
from bench.stats import rate
from bench.summary.agent import agent_summary
from bench.summary.agreement import agreement, answers_by_task, pairwise
from bench.summary.efficiency import cost_of, efficiency
from bench.summary.fingerprint import Traits, fingerprint, traits
from bench.summary.load import busy_seconds, load_curve
from bench.summary.performance import Summed, performance
from bench.summary.quality import quality, slices
from bench.summary.reliability import reliability
from bench.summary.robustness import robustness, robustness_drop
from bench.summary.selection import (
    Evidence,
    arrived,
    by_key,
    counted,
    is_kind,
    is_truncated,
    passed,
    pinned,
    proven,
    requests_per_second,
    violations,
)
from bench.summary.stages import load_series
from bench.summary.tally import tally


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What was recorded of one target."""

    target: Target
    all: tuple[Trial, ...]
    counted: tuple[Trial, ...]
    proven: tuple[Trial, ...]
    """Counted trials that the pinned target answered."""
    metrics: Summed = field(default_factory=Summed)

    @property
    def one_by_one(self) -> tuple[Trial, ...]:
        """Counted trials but those of load stages, of which only a sample is kept."""
        return tuple(trial for trial in self.counted if trial.stage is None)


def summarize(evidence: Evidence) -> Summary:
    """Compute every figure of a run; empty sets give ``None`` figures, not zeros."""
    cases = {case.id: case for case in evidence.cases}
    by_target = by_key(evidence.trials, lambda trial: trial.target_id)
    parts = []
    for target in evidence.targets:
        trials = tuple(by_target.get(target.id, ()))
        valid = counted(trials)
        parts.append(_Part(target=target, all=trials, counted=valid, proven=proven(valid)))
    answers = {part.target.id: answers_by_task(part.proven, cases) for part in parts}
    behaviour = {part.target.id: traits(part.proven, cases) for part in parts}
    return Summary(
        targets=tuple(_target(part, evidence, cases, answers, behaviour) for part in parts),
        cases=tuple(
            _case(part, case, evidence, cases) for part in parts for case in evidence.cases
        ),
        categories=tuple(
            entry for p in parts for entry in slices(p.proven, cases, "category", p.target.id)
        ),
        difficulties=tuple(
            entry for p in parts for entry in slices(p.proven, cases, "difficulty", p.target.id)
        ),
        dimensions=tuple(
            entry for p in parts for entry in slices(p.proven, cases, "dimension", p.target.id)
        ),
        pairwise_agreement=pairwise(answers, list(answers)),
        load=tuple(curve for part in parts if (curve := _load(part, evidence)) is not None),
        load_series=load_series(
            [entry for entry in evidence.stages.entries if entry.stage.pair is None]
        ),
    )


def _load(part: _Part, evidence: Evidence) -> LoadSummary | None:
    return load_curve(part.target.id, part.counted, evidence.cases)


def _target(
    part: _Part,
    evidence: Evidence,
    cases: Mapping[str, CaseInfo],
    answers: Mapping[str, Mapping[tuple[str, int], str]],
    behaviour: Mapping[str, Traits],
) -> TargetSummary:
    target_id = part.target.id
    tallied = tally(part.all, evidence.stages.of(target_id))
    planned = _planned(evidence, target_id, None)
    reference = answers.get(evidence.reference or "")
    return TargetSummary(
        target_id=target_id,
        planned=planned,
        attempted=tallied.attempted,
        succeeded=tallied.succeeded,
        valid=tallied.valid,
        invalidated=tallied.invalidated,
        cancelled=tallied.cancelled,
        not_run=0 if planned is None else max(0, planned - tallied.recorded),
        warmups=tallied.warmups,
        not_pinned=violations(part.counted),
        quality=quality(part.proven, cases),
        reference_agreement=(
            None
            if reference is None or target_id == evidence.reference
            else agreement(reference, answers[target_id])
        ),
        fingerprint=_fingerprint(target_id, evidence.reference, behaviour),
        performance=performance(
            [t for t in part.counted if is_kind(t, cases, "performance")], metrics=part.metrics
        ),
        agent=_agent(part, evidence, cases),
        reliability=reliability(part.counted, cases),
        efficiency=efficiency(part.counted, cases, evidence.spend.get(target_id, Spend())),
        robustness_drop=robustness_drop(part.proven, cases),
        robustness=robustness(part.proven, cases),
        achieved_requests_per_second=requests_per_second(part.one_by_one),
        requests_per_second=_busy_rate(part.one_by_one),
    )


def _agent(part: _Part, evidence: Evidence, cases: Mapping[str, CaseInfo]) -> dict[str, Any] | None:
    """Return agentic figures: computed ones, else those that an older document brought along."""
    computed = agent_summary(part.all, cases)
    if computed is not None and any(trial.agent is not None for trial in part.all):
        told: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(computed))
        return told
    brought = evidence.agents.get(part.target.id)
    return None if brought is None else dict(brought)


def _case(
    part: _Part, case: CaseInfo, evidence: Evidence, cases: Mapping[str, CaseInfo]
) -> CaseSummary:
    trials = [trial for trial in part.counted if trial.case_id == case.id]
    stages = evidence.stages.of(part.target.id, case.id)
    tallied = tally([trial for trial in part.all if trial.case_id == case.id], stages)
    came_back = arrived(trials)
    one_by_one = [trial for trial in trials if trial.stage is None]
    verdicts = [
        passed(trial)
        for trial in proven(trials)
        if trial.evaluation is not None and trial.evaluation.passed is not None
    ]
    return CaseSummary(
        target_id=part.target.id,
        case_id=case.id,
        planned=_planned(evidence, part.target.id, case.id),
        attempted=tallied.attempted,
        succeeded=tallied.succeeded,
        valid=tallied.valid,
        quality=quality(proven(trials), cases),
        metrics=part.metrics(pinned(trials)),
        achieved_requests_per_second=requests_per_second(one_by_one),
        requests_per_second=_busy_rate(one_by_one),
        timings=part.metrics(came_back),
        success=rate(tallied.succeeded, tallied.attempted),
        evaluation=rate(sum(verdicts), len(verdicts)),
        truncated=sum(map(is_truncated, trials)),
        cost_usd=cost_of(trials),
    )


def _busy_rate(trials: Sequence[Trial]) -> float | None:
    seconds = busy_seconds(trials)
    return len(trials) / seconds if seconds > 0 else None


def _fingerprint(
    target_id: str, reference: str | None, found: Mapping[str, Traits]
) -> FingerprintSummary | None:
    if reference is None or reference not in found or target_id == reference:
        return None
    others = (one for name, one in found.items() if name not in {target_id, reference})
    return fingerprint(found[target_id], found[reference], others)


def _planned(evidence: Evidence, target_id: str, case_id: str | None) -> int | None:
    if evidence.planned is None:
        return None
    own = sum(
        not trial.warmup and trial.target_id == target_id and case_id in {None, trial.case_id}
        for trial in evidence.planned
    )
    staged = (
        count
        for (target, case), count in evidence.expected.items()
        if target == target_id and case_id in {None, case}
    )
    return own + sum(staged)
