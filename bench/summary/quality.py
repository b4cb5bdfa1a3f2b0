"""Scores: how often answers were right, and how alike they were."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bench.model.case import CaseInfo
from bench.model.summary import QualitySummary, SliceSummary
from bench.model.trial import Trial
from bench.resampling import bootstrap_mean_of_cases, bootstrap_over_cases, bootstrap_ratio
from bench.stats import entropy_bits, mean_of, modal_share, rate, share_of
from bench.summary import instructions
from bench.summary.selection import by_key, is_kind, is_truncated, judged, passed


def quality(trials: Sequence[Trial], cases: Mapping[str, CaseInfo]) -> QualitySummary:
    """Score the trials of quality cases that have a verdict, and say what is not in the score."""
    scored = judged(trials, cases)
    by_case = by_key(scored, lambda trial: trial.case_id)
    verdicts = {case: [passed(trial) for trial in group] for case, group in by_case.items()}
    hits = sum(map(passed, scored))
    first_runs = [min(group, key=lambda trial: trial.run) for group in by_case.values()]
    first = rate(sum(map(passed, first_runs)), len(first_runs))
    answers = _answers(scored)
    return QualitySummary(
        attempted=len(scored),
        passed=hits,
        score=share_of(hits, len(scored)),
        instruction_score=instructions.score(scored),
        first_pass_score=first.rate,
        unique_answers=len(set(answers)),
        answer_entropy=entropy_bits(answers),
        consistency_rate=mean_of(modal_share(_answers(group)) for group in by_case.values()),
        score_interval=bootstrap_over_cases(verdicts),
        cases=len(by_case),
        case_mean_score=mean_of(sum(case) / len(case) for case in verdicts.values()),
        case_mean_score_interval=bootstrap_mean_of_cases(verdicts),
        cut_short=sum(is_truncated(trial) and not passed(trial) for trial in scored),
        first_pass_interval=first.interval,
        instruction_score_interval=instructions.interval(scored),
        **_of_asked(trials, cases, verdicts),
        **_same_instance(scored),
        **_stated_confidence(scored),
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


def _of_asked(
    trials: Sequence[Trial], cases: Mapping[str, CaseInfo], verdicts: Mapping[str, list[bool]]
) -> dict[str, Any]:
    """Return the score with each failed request as a wrong answer."""
    failed = [
        trial.case_id
        for trial in trials
        if is_kind(trial, cases, "quality")
        and trial.response.error is not None
        and (trial.evaluation is None or trial.evaluation.passed is None)
    ]
    asked = {case: list(found) for case, found in verdicts.items()}
    for case_id in failed:
        asked.setdefault(case_id, []).append(False)
    outcomes = [outcome for case in asked.values() for outcome in case]
    return {
        "failed": len(failed),
        "score_of_asked": share_of(sum(outcomes), len(outcomes)),
        "score_of_asked_interval": bootstrap_over_cases(asked),
    }


def _same_instance(scored: Sequence[Trial]) -> dict[str, Any]:
    """Return how alike answers to the very same prompt are."""
    groups = by_key([trial for trial in scored if trial.prompt_hash], _instance)
    same = {name: texts for name, group in groups.items() if len(texts := _answers(group)) > 1}
    shares = {name: (modal_share(texts) or 0.0, 1.0) for name, texts in same.items()}
    return {
        "same_instance_consistency": mean_of(share for share, _ in shares.values()),
        "same_instance_entropy": mean_of(entropy_bits(texts) for texts in same.values()),
        "consistency_interval": bootstrap_ratio(shares),
    }


def _stated_confidence(scored: Sequence[Trial]) -> dict[str, Any]:
    """Return how well stated confidences fit."""
    stated = [
        (trial, trial.evaluation.confidence)
        for trial in scored
        if trial.evaluation is not None
        and trial.evaluation.confidence is not None
        and math.isfinite(trial.evaluation.confidence)
    ]
    mean = mean_of(confidence for _, confidence in stated)
    right = share_of(sum(passed(trial) for trial, _ in stated), len(stated))
    errors: dict[str, list[float]] = {}
    for trial, confidence in stated:
        errors.setdefault(trial.case_id, []).append((confidence - passed(trial)) ** 2)
    return {
        "confident": len(stated),
        "mean_confidence": mean,
        "overconfidence": None if mean is None or right is None else mean - right,
        "brier_score": mean_of(error for case in errors.values() for error in case),
        "brier_interval": bootstrap_ratio(
            {case: (math.fsum(found), float(len(found))) for case, found in errors.items()}
        ),
    }


def _instance(trial: Trial) -> str:
    return f"{trial.case_id}\0{trial.prompt_hash}"


def _answers(trials: Sequence[Trial]) -> list[str]:
    found = (trial.evaluation.answer for trial in trials if trial.evaluation is not None)
    return [answer for answer in found if answer]
