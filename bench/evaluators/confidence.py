"""An answer with a stated probability of being right: ``FINAL: answer|confidence``."""

import msgspec

from bench.evaluators.excerpt import excerpt
from bench.evaluators.final_answer import final_text, judge_text, loose_final_text, unwrapped
from bench.evaluators.number_text import canonical_number
from bench.model.trial import Answer, Evaluation

SEPARATOR = "|"
PER_CENT = "%"


def judge_with_confidence(answer: Answer, *, expected: str) -> Evaluation:
    """Compare the answer before the bar; put the probability behind it into ``confidence``.

    An answer without a probability from 0 to 1 (or 0 % to 100 %) is wrong: it was asked for, and
    a score of calibration over only those who comply would flatter.

    Args:
        answer: What the model said.
        expected: The right answer, without confidence.
    """
    loose, strict = loose_final_text(answer.content), final_text(answer.content)
    said, confidence = _parted(loose)
    # One line is judged again, so that each part may be decorated on its own.
    verdict = judge_text(
        Answer(content=f"FINAL: {said}" if said else "", finish_reason=answer.finish_reason),
        expected=expected,
    )
    is_stated = confidence is not None
    passed = bool(verdict.passed) and is_stated
    detail = verdict.detail
    if not is_stated:
        detail = f"no probability from 0 to 1 behind a `{SEPARATOR}`"
    return msgspec.structs.replace(
        verdict,
        passed=passed,
        expected=expected,
        detail=detail,
        confidence=confidence,
        score=1.0 if passed else 0.0,
        metrics={"seedPassed": passed and _is_plain(strict, expected)},
    )


def _parted(line: str | None) -> tuple[str, float | None]:
    """Return what stands before the last bar, and the probability behind it if it is one."""
    if line is None:
        return "", None
    before, bar, behind = excerpt(unwrapped(line)).rpartition(SEPARATOR)
    if not bar:
        return behind, None
    return before, _probability(unwrapped(behind))


def _probability(text: str) -> float | None:
    number = canonical_number(text.removesuffix(PER_CENT).removesuffix("\\"))
    if number is None:
        return None
    value = float(number) / (100 if text.endswith(PER_CENT) else 1)
    return value if 0 <= value <= 1 else None


def _is_plain(line: str | None, expected: str) -> bool:
    before, _, behind = (line or "").partition(SEPARATOR)
    try:
        float(behind)
    except ValueError:
        return False
    return "".join(before.split()).lower() == expected.lower()
