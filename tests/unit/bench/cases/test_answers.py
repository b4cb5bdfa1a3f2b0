"""Each judged case: right, plausibly wrong, decorated, misleading and hostile answers."""

import msgspec
import pytest

from bench.cases import CASES
from bench.evaluators import evaluate
from tests.unit.bench.cases.answer_table import SEED, TABLE

FEWEST_WRONG = 3
FEWEST_TRIED = 10


def test_every_judged_case_is_in_the_table():
    judged = [case_id for case_id, case in CASES.items() if case.build(1).evaluate is not None]
    assert list(TABLE) == judged


@pytest.mark.parametrize("case_id", TABLE)
def test_answers_are_judged_by_what_they_say_not_by_their_dress(case_id):
    instance, answers = CASES[case_id].build(SEED), TABLE[case_id]
    assert instance.expected is not None
    assert len(set(answers.wrong) - {instance.expected}) >= FEWEST_WRONG
    tried = list(answers.tried(instance.expected, answers.wrong))
    assert len(tried) >= FEWEST_TRIED
    judged = []
    for name, answer, _ in tried:
        verdict = evaluate(instance, answer)
        assert verdict is not None
        judged.append((name, verdict.passed, verdict.score))
        assert "raised" not in (verdict.detail or "")
        # Each verdict can be written down, and is small however long the answer is.
        assert len(msgspec.json.encode(verdict)) < 4_000
    assert judged == [(name, is_right, float(is_right)) for name, _, is_right in tried]


def test_a_right_answer_in_plain_form_passes_the_strict_verdict_too():
    for case_id in TABLE:
        instance = CASES[case_id].build(SEED)
        assert instance.book is not None
        verdict = evaluate(instance, instance.book)
        assert verdict is not None
        assert verdict.metrics.get("seedPassed", True) is True
