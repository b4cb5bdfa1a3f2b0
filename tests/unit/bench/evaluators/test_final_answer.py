import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.evaluators.final_answer import final_text, judge_number, judge_text, loose_final_text
from bench.model.trial import Answer


def number(content, expected="1284"):
    return judge_number(Answer(content=content), expected=expected)


@pytest.mark.parametrize(
    ("content", "strict"),
    [
        pytest.param("FINAL: 1284", True, id="plain"),
        pytest.param("  FINAL:1284  ", True, id="space"),
        pytest.param("I add up.\nFINAL: 9\nNo, wrong.\nFINAL: 1284", True, id="last-final-wins"),
        pytest.param("FINAL: 1284\nHope this helps!", True, id="talk-after-it"),
        pytest.param("It is short.\n\n1284\n\n", True, id="last-line-without-final"),
        pytest.param('FINAL: "1284"', True, id="quotes"),
        pytest.param("FINAL: 1 284", True, id="space-is-removed"),
        pytest.param("FINAL: 1284\r\n", True, id="crlf"),
        pytest.param("FINAL: 1284.", False, id="full-stop"),
        pytest.param("FINAL: 1,284", False, id="thousands-separator"),
        pytest.param("FINAL: **1284**", False, id="bold"),
        pytest.param("**FINAL: 1284**", False, id="bold-line"),
        pytest.param("**FINAL:** 1284", False, id="bold-label"),
        pytest.param("**FINAL**: 1284", False, id="bold-word"),
        pytest.param("> FINAL: 1284", False, id="block-quote"),
        pytest.param("- FINAL: 1284", False, id="list-item"),
        pytest.param("### FINAL: 1284", False, id="heading"),
        pytest.param("Final: 1284", False, id="other-case-of-the-label"),
        pytest.param("FINAL: \\boxed{1284}", False, id="boxed"),
        pytest.param("FINAL: $\\boxed{1{,}284}$.", False, id="boxed-formula"),
        pytest.param("FINAL: \\(1284\\)", False, id="inline-formula"),
        pytest.param("FINAL: \\[1284\\]", False, id="display-formula"),
        pytest.param("FINAL: $1284$", False, id="dollar-formula"),
        pytest.param("So\n\\[\n\\boxed{1284}\n\\]", False, id="display-formula-over-lines"),
        pytest.param("```\nFINAL: 1284\n```", True, id="in-a-fence"),
        pytest.param("FINAL:\n1284", True, id="answer-on-the-next-line"),
        pytest.param("**FINAL:**\n**1284**", False, id="bold-answer-on-the-next-line"),
        pytest.param("FINAL: \uff11\uff12\uff18\uff14", False, id="full-width-digits"),
        pytest.param("FINAL: \u0661\u0662\u0668\u0664", False, id="arabic-digits"),
        pytest.param("FINAL: \u200e1284\u200f", False, id="direction-marks"),
        pytest.param("FINAL: 1284\ufeff", False, id="byte-order-mark"),
        pytest.param("FINAL\uff1a1284", False, id="full-width-colon"),
        pytest.param("FINAL: 1284.0", False, id="decimal-zero"),
    ],
)
def test_the_right_number_passes_and_the_strict_verdict_is_kept(content, strict):
    verdict = number(content)
    assert verdict.passed is True
    assert verdict.answer == verdict.expected == "1284"
    assert verdict.detail is None
    assert verdict.score == 1.0
    assert verdict.metrics == {"seedPassed": strict}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param("FINAL: 1285", "1285", id="off-by-one"),
        pytest.param("FINAL: -1284", "-1284", id="sign"),
        pytest.param("FINAL: 12.84", "12.84", id="point"),
        pytest.param("FINAL: 1284\nFINAL: 7", "7", id="a-later-final-is-wrong"),
        pytest.param("FINAL: 1284\n**FINAL: 7**", "7", id="a-later-decorated-final-is-wrong"),
        pytest.param("1284\nThat was easy.", "thatwaseasy", id="not-in-the-last-line"),
        pytest.param("FINAL: 1284 minutes", "1284minutes", id="with-a-unit"),
        pytest.param("FINAL: 1284 or 1285", "1284or1285", id="two-answers"),
        pytest.param("FINAL: ~~1284~~", "~~1284~~", id="struck-out"),
        pytest.param("The answer FINAL: 1284 comes", "theanswerfinal:1284comes", id="mid-line"),
        pytest.param("FINAL: <b>1284</b>", "<b>1284</b>", id="markup"),
        pytest.param("FINAL: \x1b[31m1284", "\x1b[31m1284", id="terminal-escape"),
        pytest.param("FINAL: 1284\x00", "1284\x00", id="control-character"),
        pytest.param("FINAL: \ud8001284", "?1284", id="lone-surrogate"),
        pytest.param("FINAL: NaN", "nan", id="nan"),
    ],
)
def test_a_wrong_number_fails_and_is_shown(content, said):
    verdict = number(content)
    assert verdict.passed is False
    assert verdict.answer == said
    assert verdict.detail == "another answer than expected"
    assert verdict.score == 0.0


@pytest.mark.parametrize("content", ["", "  \n\t\n", "FINAL:", "**FINAL:**", "```\n```"])
def test_an_answer_without_text_fails_with_its_reason(content):
    verdict = number(content)
    assert (verdict.passed, verdict.answer) == (False, None)
    assert verdict.detail == "the answer holds no text"


def test_a_cut_answer_says_so():
    cut = Answer(content="Let me add 3 and", finish_reason="length")
    verdict = judge_number(cut, expected="7")
    assert verdict.detail == "another answer than expected; it was cut at its token limit"


def test_a_negative_number_may_have_a_typographic_minus():
    assert number("FINAL: \u22125", expected="-5").passed is True
    assert number("FINAL: \u22125", expected="-5").metrics["seedPassed"] is False


@pytest.mark.parametrize(
    ("content", "passed", "strict"),
    [
        pytest.param("FINAL: Salt Quay", True, True, id="as-written"),
        pytest.param("final: salt  quay", True, False, id="case-and-space"),
        pytest.param("FINAL: `Salt Quay`", True, True, id="backticks"),
        pytest.param("FINAL: **Salt Quay**.", True, False, id="emphasis-and-stop"),
        pytest.param("FINAL: \\text{Salt Quay}", True, False, id="latex-text"),
        pytest.param("FINAL: Salt Key", False, False, id="other"),
        pytest.param("FINAL: the Salt Quay", False, False, id="article"),
    ],
)
def test_text_is_compared_without_space_and_case(content, passed, strict):
    verdict = judge_text(Answer(content=content), expected="SALT QUAY")
    assert (verdict.passed, verdict.metrics["seedPassed"]) == (passed, strict)


@pytest.mark.parametrize(
    ("content", "passed"),
    [
        pytest.param("FINAL: SALT QUAY", True, id="as-written"),
        pytest.param("FINAL: 'SALT QUAY'", True, id="quotes"),
        pytest.param("FINAL: **SALT QUAY**", True, id="emphasis"),
        pytest.param("FINAL: Salt Quay", False, id="case"),
        pytest.param("FINAL: SALTQUAY", False, id="inner-space"),
    ],
)
def test_a_case_about_capitals_compares_letters_exactly(content, passed):
    verdict = judge_text(Answer(content=content), expected="SALT QUAY", exact_case=True)
    assert verdict.passed is passed


def test_a_final_line_far_above_the_judged_tail_is_not_looked_for():
    assert number("FINAL: 1284\n" + "x\n" * 100_000).passed is False


def test_the_cut_into_a_long_line_is_not_taken_for_a_line():
    assert final_text("y" * 100_000 + "FINAL: 1284") is None
    assert loose_final_text("y" * 100_000 + "FINAL: 1284") is None


def test_a_long_answer_is_shown_short():
    verdict = number("FINAL: " + "z" * 5_000)
    assert verdict.answer is not None
    assert len(verdict.answer) == 200


@given(st.integers(-(10**12), 10**12), st.text("abc \n"))
def test_a_final_line_at_the_end_always_counts(value, talk):
    verdict = number(f"{talk}\nFINAL: {value:,}", expected=str(value))
    assert verdict.passed is True


@given(st.text(st.characters(exclude_characters="Ff")), st.text(st.characters(codec="utf-8")))
def test_leniency_only_adds_where_there_is_one_final_line(talk, said):
    verdict = number(f"{talk}\nFINAL: {said}", expected="7")
    assert verdict.passed or not verdict.metrics["seedPassed"]


def test_an_accent_may_be_a_character_of_its_own():
    verdict = judge_text(Answer(content="FINAL: FU\u0308NF"), expected="FÜNF", exact_case=True)
    assert (verdict.passed, verdict.metrics["seedPassed"]) == (True, False)
