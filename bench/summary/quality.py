"""Scores: how often answers were right, and how alike they were."""

from collections.abc import Mapping, Sequence

from bench.model.case import CaseInfo
from bench.model.summary import QualitySummary, SliceSummary
from bench.model.trial import Trial
from bench.stats import (
    bootstrap_over_cases,
    entropy_bits,
    mean_of,
    modal_share,
    share_of,
)
from bench.summary.selection import by_key, judged, passed


def quality(trials: Sequence[Trial], cases: Mapping[str, CaseInfo]) -> QualitySummary:
    """Score the trials of quality cases that have a verdict."""
    scored = judged(trials, cases)
    by_case = by_key(scored, lambda trial: trial.case_id)
    hits = sum(map(passed, scored))
    first_runs = [min(group, key=lambda trial: trial.run) for group in by_case.values()]
    answers = _answers(scored)
    same = [
        texts
        for group in by_key([t for t in scored if t.prompt_hash], _instance).values()
        if len(texts := _answers(group)) > 1
    ]
    return QualitySummary(
        attempted=len(scored),
        passed=hits,
        score=share_of(hits, len(scored)),
        instruction_score=_instruction_score(scored),
        first_pass_score=share_of(sum(map(passed, first_runs)), len(first_runs)),
        unique_answers=len(set(answers)),
        answer_entropy=entropy_bits(answers),
        consistency_rate=mean_of(modal_share(_answers(group)) for group in by_case.values()),
        mean_confidence=mean_of(_confidence(trial) for trial in scored),
        brier_score=mean_of(_squared_error(trial) for trial in scored),
        score_interval=bootstrap_over_cases(
            {case: [passed(trial) for trial in group] for case, group in by_case.items()}
        ),
        cases=len(by_case),
        same_instance_consistency=mean_of(modal_share(texts) for texts in same),
        same_instance_entropy=mean_of(entropy_bits(texts) for texts in same),
    )


def slices(
    trials: Sequence[Trial], cases: Mapping[str, CaseInfo], field: str, target_id: str
) -> tuple[SliceSummary, ...]:
    """Score one target's judged trials of every kind by a field of their cases.

    Args:
        trials: Counted trials of the target.
        cases: By id; their order gives the order of the keys.
        field: ``category``, ``difficulty`` or ``dimension``.
        target_id: For the result.
    """
    found = (getattr(case, field) for case in cases.values())
    keys = dict.fromkeys(key for key in found if key is not None)
    result = []
    for key in keys:
        verdicts = {
            case.id: [
                passed(trial)
                for trial in trials
                if trial.case_id == case.id
                and trial.evaluation is not None
                and trial.evaluation.passed is not None
            ]
            for case in cases.values()
            if getattr(case, field) == key
        }
        outcomes = [verdict for case_verdicts in verdicts.values() for verdict in case_verdicts]
        result.append(
            SliceSummary(
                target_id=target_id,
                key=key,
                attempted=len(outcomes),
                passed=sum(outcomes),
                score=share_of(sum(outcomes), len(outcomes)),
                interval=bootstrap_over_cases(verdicts),
            )
        )
    return tuple(result)


def robustness_drop(trials: Sequence[Trial], cases: Mapping[str, CaseInfo]) -> float | None:
    """Return the mean of (score of the canonical case minus score of its variant)."""
    scores = {
        case_id: quality(group, cases).score
        for case_id, group in by_key(trials, lambda trial: trial.case_id).items()
    }
    drops = []
    for case in cases.values():
        if case.variant_of is None:
            continue
        canonical, variant = scores.get(case.variant_of), scores.get(case.id)
        if canonical is not None and variant is not None:
            drops.append(canonical - variant)
    return mean_of(drops)


def _instance(trial: Trial) -> str:
    return f"{trial.case_id}\0{trial.prompt_hash}"


def _answers(trials: Sequence[Trial]) -> list[str]:
    found = (trial.evaluation.answer for trial in trials if trial.evaluation is not None)
    return [answer for answer in found if answer]


def _instruction_score(trials: Sequence[Trial]) -> float | None:
    followed = sum(_metric(trial, "instructionsPassed") for trial in trials)
    return share_of(followed, sum(_metric(trial, "instructionsTotal") for trial in trials))


def _metric(trial: Trial, name: str) -> float:
    value = trial.evaluation.metrics.get(name) if trial.evaluation is not None else None
    return float(value) if isinstance(value, int | float) else 0.0


def _confidence(trial: Trial) -> float | None:
    return trial.evaluation.confidence if trial.evaluation is not None else None


def _squared_error(trial: Trial) -> float | None:
    confidence = _confidence(trial)
    return None if confidence is None else (confidence - passed(trial)) ** 2
