import pytest

from bench.evaluators.abstention import judge_abstention, judge_grounded_number
from bench.model.trial import Answer


def judge(content):
    return judge_abstention(Answer(content=content), near_misses=frozenset({"1284"}))


@pytest.mark.parametrize(
    ("content", "strict"),
    [
        pytest.param("FINAL: UNKNOWN", True, id="plain"),
        pytest.param("FINAL: unknown", True, id="lower-case"),
        pytest.param("No such row.\nFINAL: 'UNKNOWN'", True, id="quotes"),
        pytest.param("UNKNOWN", True, id="last-line"),
        pytest.param("FINAL: UNKNOWN.", False, id="full-stop"),
        pytest.param("FINAL: **UNKNOWN**", False, id="bold"),
        pytest.param("FINAL: 1284\nThat is another row.\nFINAL: UNKNOWN", True, id="corrected"),
    ],
)
def test_abstaining_passes(content, strict):
    verdict = judge(content)
    assert (verdict.passed, verdict.answer) == (True, "UNKNOWN")
    assert verdict.metrics == {"seedPassed": strict, "abstained": True, "nearMiss": False}


@pytest.mark.parametrize(
    ("content", "near_miss", "detail"),
    [
        pytest.param(
            "FINAL: 1,284.", True, "the value of a similar entry was given", id="near-miss"
        ),
        pytest.param("FINAL: 77", False, "another answer than expected", id="made-up"),
        pytest.param("FINAL: UNKNOWN\nFINAL: 77", False, "another answer than expected", id="last"),
        pytest.param(
            "I can't find it in the ledger.",
            False,
            "another answer than expected",
            id="other-words",
        ),
        pytest.param("FINAL: UNKNOWN or 77", False, "another answer than expected", id="hedged"),
        pytest.param("", False, "the answer holds no text", id="empty"),
        pytest.param("FINAL: <script>UNKNOWN", False, "another answer than expected", id="markup"),
    ],
)
def test_answering_all_the_same_fails(content, near_miss, detail):
    verdict = judge(content)
    assert verdict.passed is False
    assert verdict.detail == detail
    assert verdict.metrics["abstained"] is False
    assert verdict.metrics["nearMiss"] is near_miss


@pytest.mark.parametrize(
    ("content", "passed", "abstained", "near_miss", "detail"),
    [
        ("FINAL: 1,250.", True, False, False, None),
        ("FINAL: 1284\nNo.\nFINAL: **1250**", True, False, False, None),
        ("FINAL: 1284", False, False, True, "the value of a similar entry was given"),
        ("**FINAL: UNKNOWN**", False, True, False, "the model abstained, though the text says"),
        ("FINAL: 77", False, False, False, "another answer than expected"),
        ("", False, False, False, "the answer holds no text"),
    ],
)
def test_a_number_of_the_text_is_told_from_its_neighbours_and_from_abstaining(
    content, passed, abstained, near_miss, detail
):
    verdict = judge_grounded_number(
        Answer(content=content), expected="1250", near_misses=frozenset({"1284"})
    )
    assert (verdict.passed, verdict.detail) == (passed, detail)
    assert verdict.metrics["abstained"] is abstained
    assert verdict.metrics["nearMiss"] is near_miss
