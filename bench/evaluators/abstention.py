"""Answers from a given text: is it what the text says, and does the model abstain where it is silent?"""

from collections.abc import Collection

import msgspec

from bench.evaluators.final_answer import judge_number, judge_text
from bench.evaluators.number_text import canonical_number
from bench.model.trial import Answer, Evaluation

ABSTENTION = "UNKNOWN"


def judge_abstention(answer: Answer, *, near_misses: Collection[str]) -> Evaluation:
    """Pass only ``UNKNOWN``; tell a value taken from a similar entry from one made up.

    Args:
        answer: What the model said.
        near_misses: Values of entries that resemble the one asked for, as plain digits.
    """
    return _told_apart(judge_text(answer, expected=ABSTENTION), near_misses)


def judge_grounded_number(
    answer: Answer, *, expected: str, near_misses: Collection[str]
) -> Evaluation:
    """Pass only the number that the text holds; tell other numbers of the text, and abstaining.

    Args:
        answer: What the model said.
        expected: The number, as plain digits.
        near_misses: Values of entries that resemble the one asked for; ``expected`` is not one.
    """
    return _told_apart(judge_number(answer, expected=expected), near_misses)


def _told_apart(verdict: Evaluation, near_misses: Collection[str]) -> Evaluation:
    said = None if verdict.answer is None else canonical_number(verdict.answer)
    is_near_miss = said is not None and said in near_misses
    abstained = verdict.answer is not None and verdict.answer.upper() == ABSTENTION
    detail = "the value of a similar entry was given" if is_near_miss else verdict.detail
    if abstained and not verdict.passed:
        detail = "the model abstained, though the text says"
    return msgspec.structs.replace(
        verdict,
        detail=detail,
        metrics={**verdict.metrics, "abstained": abstained, "nearMiss": is_near_miss},
    )
