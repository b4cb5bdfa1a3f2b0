"""The sections on answers: how often right, and how alike."""

from collections.abc import Sequence

from bench.model.document import Document
from bench.model.summary import Rate, SliceSummary, TargetSummary
from bench.report.cells import score_cell
from bench.report.figures import ABSENT, number, percent, percent_range, rate_detail
from bench.report.tables import Cell, Section, Table


def quality(document: Document) -> Section:
    """Return scores and likeness of answers."""
    rows = []
    for target in document.summary.targets:
        quality = target.quality
        if quality.attempted == 0:
            continue
        rows.append(
            (
                Cell(text=target.target_id),
                score_cell(target),
                Cell(text=percent(quality.first_pass_score)),
                Cell(text=percent(quality.instruction_score)),
                Cell(text=percent(quality.same_instance_consistency)),
                Cell(text=percent(quality.consistency_rate)),
                Cell(text=_points(target.robustness_drop), detail=_changed(target)),
                Cell(text=number(quality.brier_score)),
            )
        )
    return Section(
        id="quality",
        title="Answers",
        note="First try: the first run of each case. Same prompt, same answer: only repeats of the "
        "very same prompt are compared. By case: the older measure, which also compares "
        "repeats whose right answers differ. Drop in other words: score of the plain wording minus "
        "score of its variants; changed: pairs of one task in two wordings of which exactly one was "
        "answered right. Brier: error of stated confidence, 0 is best.",
        table=Table(
            columns=(
                "Target",
                "Score",
                "First try",
                "Instructions followed",
                "Same prompt, same answer",
                "Same answer by case",
                "Drop in other words",
                "Brier score",
            ),
            rows=tuple(rows),
        ),
    )


def slices(section_id: str, title: str, entries: Sequence[SliceSummary]) -> Section:
    """Return scores by category, difficulty or dimension."""
    return Section(
        id=section_id,
        title=title,
        note="Right answers among judged trials of every kind; 95% interval over the cases.",
        table=Table(
            columns=("Target", title.removeprefix("Scores by ").capitalize(), "Score"),
            rows=tuple(
                (
                    Cell(text=entry.target_id),
                    Cell(text=entry.key),
                    Cell(
                        text=percent(entry.score),
                        detail=f"{entry.passed} of {entry.attempted}, "
                        f"{percent_range(entry.interval)}",
                    ),
                )
                for entry in entries
                if entry.attempted
            ),
            words=2,
        ),
        is_folded=True,
    )


def agreement(document: Document) -> Section:
    """Return how alike targets answer."""
    rows = [
        (
            Cell(text=pair.left_target_id),
            Cell(text=pair.right_target_id),
            Cell(
                text=percent(pair.agreement.rate),
                detail=f"{pair.agreement.matching} of {pair.agreement.compared}, "
                f"{percent_range(pair.agreement.confidence95)}",
            ),
        )
        for pair in document.summary.pairwise_agreement
        if pair.agreement.compared
    ]
    reference = document.config.reference_target_id
    told = f" The reference of this run is {reference}." if reference else ""
    return Section(
        id="agreement",
        title="Agreement",
        note=f"How often two targets gave the same answer to the same task, right or wrong.{told}",
        table=Table(columns=("Target", "Other target", "Same answer"), rows=tuple(rows), words=2),
        is_folded=True,
    )


def likeness(document: Document) -> Section:
    """Return how much targets behave like the reference."""
    rows = []
    for target in document.summary.targets:
        found = target.fingerprint
        if found is None or not found.compared:
            continue
        rows.append(
            (
                Cell(text=target.target_id),
                _of(found.shared_errors),
                _of(found.reference_errors),
                Cell(text=percent(found.rarity_weighted_error_agreement)),
                Cell(text=percent(found.category_similarity)),
                Cell(text=_points(found.reasoning_ratio_delta)),
                Cell(text=percent(found.behavioural_similarity)),
            )
        )
    return Section(
        id="likeness",
        title="Likeness to the reference",
        note=f"Compared with {document.config.reference_target_id}. Same mistake where both are "
        "wrong: different models rarely make the same slip, so a high share speaks for one model "
        "behind two names. Rare mistakes: those that other targets make too weigh less. Similarity: "
        "the mean of all, and of the share of same answers; any two good models have a high one.",
        table=Table(
            columns=(
                "Target",
                "Same mistake, both wrong",
                "Same mistake, reference wrong",
                "Same rare mistakes",
                "Scores by category alike",
                "More reasoning",
                "Similarity",
            ),
            rows=tuple(rows),
        ),
        is_folded=True,
    )


def _of(found: Rate | None) -> Cell:
    return Cell(text=percent(found.rate if found else None), detail=rate_detail(found))


def _changed(target: TargetSummary) -> str:
    found = target.robustness
    return "" if found is None else f"{found.changed.hits} of {found.pairs} changed"


def _points(drop: float | None) -> str:
    return ABSENT if drop is None else f"{drop * 100:+.0f} points"
