"""Whether a model says that it does not know, where the text it was given does not say."""

from collections.abc import Collection

import msgspec

from bench.evaluators.final_answer import judge_text
from bench.evaluators.number_text import canonical_number
from bench.model.trial import Answer, Evaluation

ABSTENTION = "UNKNOWN"


def judge_abstention(answer: Answer, *, near_misses: Collection[str]) -> Evaluation:
    """Pass only ``UNKNOWN``; tell a value taken from a similar entry from one made up.

    Args:
        answer: What the model said.
        near_misses: Values of entries that resemble the one asked for, as plain digits.
    """
    verdict = judge_text(answer, expected=ABSTENTION)
    said = None if verdict.answer is None else canonical_number(verdict.answer)
    is_near_miss = said is not None and said in near_misses
    detail = "the value of a similar entry was given" if is_near_miss else verdict.detail
    return msgspec.structs.replace(
        verdict,
        detail=detail,
        metrics={**verdict.metrics, "abstained": verdict.passed, "nearMiss": is_near_miss},
    )
