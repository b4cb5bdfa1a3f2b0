"""Scores, and how alike answers are: of one target, of two wordings, of two targets."""

from bench.model.figures import Interval, Rate
from bench.model.record import Record


class QualitySummary(Record, frozen=True, kw_only=True):
    """Over trials of quality cases that have a verdict."""

    attempted: int
    passed: int
    score: float | None
    instruction_score: float | None
    first_pass_score: float | None
    unique_answers: int
    answer_entropy: float | None
    """Bits, over all answers of all cases together (version 2)."""
    consistency_rate: float | None
    """Version 2: by case, though seeds and hence right answers differ between runs."""
    mean_confidence: float | None
    brier_score: float | None
    score_interval: Interval | None = None
    """Bootstrap over cases; over the trials of one case by Wilson."""
    cases: int = 0
    """Cases with a verdict: what ``score_interval`` stands on."""
    same_instance_consistency: float | None = None
    """Like ``consistency_rate``, but only among answers to the very same prompt."""
    same_instance_entropy: float | None = None
    """Bits; mean over the same prompts."""
    failed: int = 0
    """Quality trials without a verdict because the request failed: not in ``score``."""
    score_of_asked: float | None = None
    """The score with each of them as a wrong answer: what whoever asked got."""
    score_of_asked_interval: Interval | None = None
    case_mean_score: float | None = None
    """Mean of the cases' scores: a case that is run more often weighs no more."""
    case_mean_score_interval: Interval | None = None
    cut_short: int = 0
    """Wrong answers that ended at their token limit: the limit may have been what was measured."""
    first_pass_interval: Interval | None = None
    instruction_score_interval: Interval | None = None
    consistency_interval: Interval | None = None
    """Of ``same_instance_consistency``."""
    confident: int = 0
    """Judged answers with a confidence: what ``mean_confidence`` and ``brier_score`` stand on."""
    overconfidence: float | None = None
    """``mean_confidence`` minus the score of the same answers, -1..1."""
    brier_interval: Interval | None = None


class AgreementSummary(Record, frozen=True, kw_only=True):
    """How often two targets gave the same answer to the same task."""

    compared: int
    matching: int
    rate: float | None
    confidence95: Interval | None
    """By Wilson."""


class PairwiseAgreement(Record, frozen=True, kw_only=True):
    """Agreement of two targets."""

    left_target_id: str
    right_target_id: str
    agreement: AgreementSummary


class FingerprintSummary(Record, frozen=True, kw_only=True):
    """How much a target behaves like the reference."""

    agreement: float | None
    reference_error_agreement: float | None
    """Where the reference is wrong: how often with the very same answer."""
    rarity_weighted_error_agreement: float | None
    """The same, a mistake weighing the more the fewer of the other targets make it."""
    category_similarity: float | None
    """1 minus the mean difference of the scores by category."""
    reasoning_ratio_delta: float | None
    """Share of reasoning tokens, the target's minus the reference's."""
    behavioural_similarity: float | None
    """Mean of those that are known. High for any two good models."""
    compared: int = 0
    """Tasks that both answered."""
    reference_errors: Rate | None = None
    """``reference_error_agreement`` with what it stands on."""
    shared_errors: Rate | None = None
    """Of the tasks on which both are wrong: how often alike. What tells models apart."""


class RobustnessSummary(Record, frozen=True, kw_only=True):
    """A task and the same task in other words, each pair one instance in one run."""

    pairs: int
    drop: float | None
    """Share of pairs in which only the plain wording is right minus that in which only the other
    is, -1..1."""
    drop_interval: Interval | None
    changed: Rate
    """Pairs in which exactly one of the two is right: losses and gains do not cancel out."""


class SliceSummary(Record, frozen=True, kw_only=True):
    """One category, difficulty or dimension on one target."""

    target_id: str
    key: str
    attempted: int
    passed: int
    score: float | None
    interval: Interval | None = None
