"""How often targets answer alike: an answer is compared with the answer to the same task."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from bench.model.case import CaseInfo
from bench.model.summary import AgreementSummary, PairwiseAgreement
from bench.model.trial import Trial
from bench.stats import share_of, wilson
from bench.summary.selection import is_kind

_Task = tuple[str, int]
"""Case and run: every target gets the same instance in the same run."""


def answers_by_task(trials: Iterable[Trial], cases: Mapping[str, CaseInfo]) -> dict[_Task, str]:
    """Return the final answers to quality cases; empty ones are none."""
    return {
        (trial.case_id, trial.run): trial.evaluation.answer
        for trial in trials
        if is_kind(trial, cases, "quality")
        and trial.evaluation is not None
        and trial.evaluation.answer
    }


def agreement(left: Mapping[_Task, str], right: Mapping[_Task, str]) -> AgreementSummary:
    """Compare the answers that both gave."""
    shared = left.keys() & right.keys()
    matching = sum(left[task] == right[task] for task in shared)
    return AgreementSummary(
        compared=len(shared),
        matching=matching,
        rate=share_of(matching, len(shared)),
        confidence95=wilson(matching, len(shared)),
    )


def pairwise(
    answers: Mapping[str, Mapping[_Task, str]], target_ids: Sequence[str]
) -> tuple[PairwiseAgreement, ...]:
    """Compare each target with each other one."""
    return tuple(
        PairwiseAgreement(
            left_target_id=left,
            right_target_id=right,
            agreement=agreement(answers[left], answers[right]),
        )
        for left, right in combinations(target_ids, 2)
    )
