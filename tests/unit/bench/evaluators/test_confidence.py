import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.evaluators.confidence import judge_with_confidence
from bench.model.trial import Answer


def judge(content):
    return judge_with_confidence(Answer(content=content), expected="C")


@pytest.mark.parametrize(
    ("content", "confidence", "strict"),
    [
        pytest.param("FINAL: C|0.85", 0.85, True, id="plain"),
        pytest.param("FINAL: C | 0.85", 0.85, True, id="space"),
        pytest.param("FINAL: A|0.4\nBut no.\nFINAL: C|0.85", 0.85, True, id="last-final-wins"),
        pytest.param("FINAL: C|85%", 0.85, False, id="per-cent"),
        pytest.param("FINAL: C|85\\%", 0.85, False, id="latex-per-cent"),
        pytest.param("**FINAL: C|0.85**", 0.85, False, id="bold"),
        pytest.param("FINAL: **C**|**0.85**", 0.85, False, id="each-part-bold"),
        pytest.param("FINAL: \\boxed{C}|0.85", 0.85, False, id="boxed-letter"),
        pytest.param("FINAL: C|0.85.", 0.85, False, id="full-stop"),
        pytest.param("FINAL: C|1", 1.0, True, id="certain"),
        pytest.param("FINAL: C|0", 0.0, True, id="impossible"),
    ],
)
def test_the_right_answer_passes_and_its_confidence_is_kept(content, confidence, strict):
    verdict = judge(content)
    assert verdict.passed is True
    assert verdict.confidence == confidence
    assert (verdict.answer, verdict.expected, verdict.score) == ("C", "C", 1.0)
    assert verdict.detail is None
    assert verdict.metrics == {"seedPassed": strict}


def test_a_wrong_answer_keeps_its_confidence_for_the_brier_score():
    verdict = judge("FINAL: A|0.9")
    assert (verdict.passed, verdict.confidence, verdict.answer) == (False, 0.9, "a")
    assert verdict.detail == "another answer than expected"


@pytest.mark.parametrize(
    "content",
    ["FINAL: C", "FINAL: C|", "FINAL: C|85", "FINAL: C|-0.1", "FINAL: C|nan", "FINAL: C|1e-1",
     "FINAL: C|sure", "C", ""],
)  # fmt: skip
def test_without_a_probability_the_answer_is_wrong_and_has_no_confidence(content):
    verdict = judge(content)
    assert (verdict.passed, verdict.confidence, verdict.score) == (False, None, 0.0)
    assert verdict.detail == "no probability from 0 to 1 behind a `|`"


@given(st.text("C|.019% \n*-", max_size=30))
def test_a_confidence_is_a_probability_or_none(said):
    verdict = judge(f"FINAL: {said}")
    assert verdict.confidence is None or 0 <= verdict.confidence <= 1
    assert verdict.confidence is not None or not verdict.passed
