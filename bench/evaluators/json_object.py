"""One JSON object: the right keys in the right order, the right values, nothing around it.

The verdict that counts looks through a code fence around the whole answer;
``metrics.seedPassed`` does not.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from bench.evaluators.excerpt import MAX_JUDGED_CHARACTERS, excerpt
from bench.evaluators.strict_json import NotJson, parse_strict, same_value
from bench.model.trial import Answer, Evaluation

_FENCE_OPENING = re.compile(r"(`{3,}|~{3,})[ \t]*[A-Za-z0-9]{0,16}")


def judge_json_object(answer: Answer, *, expected: Mapping[str, Any]) -> Evaluation:
    """Compare the answer with ``expected``, whose order of keys is the order asked for."""
    text = answer.content.strip().removeprefix("\ufeff").strip()
    inner = without_fence(text)
    right, problem = 0, None
    try:
        value = parse_strict(inner)
    except NotJson as error:
        problem = f"no JSON object: {error}"
    else:
        right, problem = _compared(value, expected)
    passed = problem is None
    wanted = json.dumps(expected, ensure_ascii=False)
    return Evaluation(
        passed=passed,
        answer=wanted if passed else excerpt(inner) or None,
        expected=wanted,
        detail=None if problem is None else excerpt(problem),
        score=1.0 if passed else 0.0,
        metrics={
            "seedPassed": passed and inner == text,
            "valuesRight": right,
            "valuesExpected": len(expected),
        },
    )


def without_fence(text: str) -> str:
    """Return what stands in the code fence around all of ``text``; without one, ``text``."""
    if len(text) > MAX_JUDGED_CHARACTERS:
        return text
    opening, _, rest = text.partition("\n")
    match = _FENCE_OPENING.fullmatch(opening.rstrip())
    if match is None or not rest.endswith(match[1]):
        return text
    return rest.removesuffix(match[1]).strip()


def _compared(value: object, expected: Mapping[str, Any]) -> tuple[int, str | None]:
    """Return how many values are right, and what is wrong first (``None``: nothing)."""
    if not isinstance(value, dict):
        return 0, f"a JSON {type(value).__name__} instead of an object"
    missing = [key for key in expected if key not in value]
    wrong = [key for key in expected if not same_value(value.get(key), expected[key])]
    problem = None
    if missing:
        problem = f"missing: {', '.join(missing)}"
    elif len(value) != len(expected):
        problem = f"keys that were not asked for: {len(value) - len(expected)}"
    elif wrong:
        problem = f"wrong value: {', '.join(wrong)}"
    elif list(value) != list(expected):
        problem = "the keys are in another order than asked for"
    return len(expected) - len(wrong), problem
