"""Every kind of instruction: followed, not followed, and followed once decoration is off."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.external.ifeval import marks, words
from bench.external.ifeval.judging import Instruction, judge_instructions, variants
from bench.external.ifeval.kinds import KINDS
from bench.external.ifeval.language import is_in_language
from bench.model.trial import Answer

STRICT, LOOSE, NEITHER = (True, True), (False, True), (False, False)


def instruction(kind, **told):
    wants = KINDS[kind].wants
    assert set(told) == set(wants)
    return Instruction(kind=KINDS[kind], told={name: wants[name](told[name]) for name in told})


def verdict(one, text, mode="strict", finish_reason="stop"):
    answer = Answer(content=text, finish_reason=finish_reason)
    return judge_instructions(answer, instructions=(one,), mode=mode)


NO_COMMA = instruction("punctuation:no_comma")
TABLE: dict[str, tuple[dict[str, Any], dict[str, tuple[bool, bool]]]] = {
    "keywords:existence": (
        {"keywords": ["salt", "c++"]},
        {"SALT and C++": STRICT, "salt": NEITHER, "s*alt* c++": LOOSE},
    ),
    "keywords:frequency": (
        {"keyword": " a.b ", "frequency": 2, "relation": "at least"},
        {"a.b A.B": STRICT, "axb axb": NEITHER},
    ),
    "keywords:forbidden_words": (
        {"forbidden_words": ["cat", "c++"]},
        {"category": STRICT, "a Cat.": NEITHER, "in C++, too": NEITHER, "cat\nfine": LOOSE},
    ),
    "keywords:letter_frequency": (
        {"letter": "B", "let_frequency": 3, "let_relation": "less than"},
        {"bB": STRICT, "bbb": NEITHER},
    ),
    "language:response_language": (
        {"language": "de"},
        {
            "Das Wetter ist heute sehr schön und warm.": STRICT,
            "The weather is fine today, they say.": NEITHER,
            "12 34": STRICT,
        },
    ),
    "length_constraints:number_sentences": (
        {"relation": "less than", "num_sentences": 3},
        {"Mr. Day left at 5 p.m. today. He did.": STRICT, "One. Two. Three.": NEITHER},
    ),
    "length_constraints:number_paragraphs": (
        {"num_paragraphs": 2},
        {"a *** b": STRICT, "***a***b***": STRICT, "a *** *** b": NEITHER, "a": NEITHER},
    ),
    "length_constraints:number_words": (
        {"relation": "at least", "num_words": 3.0},
        {"one two-three": STRICT, "one two": NEITHER},
    ),
    "length_constraints:nth_paragraph_first_word": (
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Then"},
        {
            "So.\n\n'Then, it": STRICT,
            "So.\n\nLater": NEITHER,
            "So.\n\n\n\nThen": NEITHER,
            "Then": NEITHER,
        },
    ),
    "detectable_content:number_placeholders": (
        {"num_placeholders": 2},
        {"[a] [b": NEITHER, "[a] []": STRICT, "[a\n] [b]": NEITHER},
    ),
    "detectable_content:postscript": (
        {"postscript_marker": "P.P.S"},
        {"x\np. p.s more": STRICT, "P.S. more": NEITHER},
    ),
    "detectable_format:number_bullet_lists": (
        {"num_bullets": 2},
        {
            "* a\n- b": STRICT,
            "* a\n** b": NEITHER,
            "*\nx\n -": STRICT,
            "*\n- x": STRICT,
            "- a\n*": NEITHER,
            "- a\n- b\n- c": LOOSE,
        },
    ),
    "detectable_format:constrained_response": (
        {},
        {"My answer is no.": STRICT, "My *answer* is no.": LOOSE, "my answer is no.": NEITHER},
    ),
    "detectable_format:number_highlighted_sections": (
        {"num_highlights": 2},
        {"*a* *b*": STRICT, "**a**": NEITHER, "*a* **": NEITHER},
    ),
    "detectable_format:multiple_sections": (
        {"section_spliter": "SECTION", "num_sections": 2},
        {"SECTION 1 x SECTION2": STRICT, "Section 1 SECTION 2": NEITHER},
    ),
    "detectable_format:json_format": (
        {},
        {"```json\n{}\n```": STRICT, "Here:\n{}": LOOSE, "{": NEITHER, "[" * 9999: NEITHER},
    ),
    "detectable_format:title": ({}, {"<<a>>": STRICT, "<<>>": NEITHER, "<<a\n>>": NEITHER}),
    "combination:two_responses": (
        {},
        {"a******b": STRICT, "a******a": NEITHER, "a************b": NEITHER},
    ),
    "combination:repeat_prompt": (
        {"prompt_to_repeat": "Say it. "},
        {" SAY IT. Yes": STRICT, "Sure.\nSay it.": LOOSE, "Yes": NEITHER},
    ),
    "startend:end_checker": (
        {"end_phrase": "The end."},
        {'"x THE END."': STRICT, "the end.\nBye": LOOSE, "end": NEITHER},
    ),
    "startend:quotation": ({}, {' "a" ': STRICT, '"': NEITHER, '*"a"*': LOOSE}),
    "change_case:english_capital": (
        {},
        {"THIS IS ALL IN CAPITAL LETTERS": STRICT, "This is not": NEITHER},
    ),
    "change_case:english_lowercase": (
        {},
        {"this is all in small letters": STRICT, "das wetter ist schön heute": NEITHER},
    ),
    "change_case:capital_word_frequency": (
        {"capital_relation": "at least", "capital_frequency": 3},
        {"DON'T ask NASA": STRICT, "WELL-KNOWN U.S. law": NEITHER, "I'D CANNOT": STRICT},
    ),
    "punctuation:no_comma": ({}, {"a. b": STRICT, "a, b": NEITHER, "Well,\nyes": LOOSE}),
}


def test_there_are_the_published_25_kinds():
    assert len(KINDS) == 25
    assert set(TABLE) == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "text", "wanted"),
    [
        pytest.param(kind, text, wanted, id=f"{kind}-{number}")
        for kind, (_, texts) in TABLE.items()
        for number, (text, wanted) in enumerate(texts.items())
    ],
)
def test_a_text_follows_an_instruction_strictly_loosely_or_not(kind, text, wanted):
    told, _ = TABLE[kind]
    metrics = verdict(instruction(kind, **told), text).metrics
    assert (metrics["promptStrict"], metrics["promptLoose"]) == wanted


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_empty_answer_follows_nothing(kind):
    told, _ = TABLE[kind]
    assert verdict(instruction(kind, **told), " \n ").passed is False


def test_the_mode_says_which_verdict_counts():
    both = "Well,\nyes"
    assert verdict(NO_COMMA, both, "strict").passed is False
    assert verdict(NO_COMMA, both, "loose").passed is True


def test_instructions_are_counted_one_by_one_and_the_prompt_needs_all():
    two = (NO_COMMA, instruction("startend:quotation"))
    verdict = judge_instructions(Answer(content="a"), instructions=two, mode="strict")
    assert (verdict.passed, verdict.score) == (False, 0.0)
    assert verdict.metrics["instructionsPassed"] == 1
    assert verdict.metrics["instructionsTotal"] == 2
    assert verdict.metrics["missed"] == ["startend:quotation"]
    assert verdict.detail == "not followed: startend:quotation"


def test_a_cut_answer_is_told_as_cut():
    detail = verdict(NO_COMMA, "a,", finish_reason="length").detail
    assert detail == "not followed: punctuation:no_comma; the answer was cut at its token limit"


def test_an_endless_answer_follows_nothing_and_says_why():
    told = verdict(NO_COMMA, "a" * 70_000)
    assert told.passed is False
    assert "70000 characters" in (told.detail or "")


def test_a_language_is_the_same_at_every_call():
    text = "ok la di da"
    assert len({is_in_language(text, "en") for _ in range(30)}) == 1


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("num_words", -1),
        ("num_words", True),
        ("num_words", 1.5),
        ("num_words", "3"),
        ("relation", "more than"),
        ("language", "xx"),
        ("letter", "ab"),
        ("keyword", " "),
        ("keywords", []),
        ("keywords", "salt"),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused(name, raw):
    read = next(kind.wants[name] for kind in KINDS.values() if name in kind.wants)
    with pytest.raises(ValueError, match="needed"):
        read(raw)


@given(st.text(alphabet="ab*-[]<>.,'\"\n #1SECTION{}", max_size=200))
def test_no_text_makes_a_check_raise(text):
    for kind, (told, _) in TABLE.items():
        if not KINDS[kind].loads:
            verdict(instruction(kind, **told), text)


@given(st.text(alphabet="a*\n ", max_size=60))
def test_what_is_followed_strictly_is_followed_loosely(text):
    assert next(variants(text)) == text
    for kind, (told, _) in TABLE.items():
        if not KINDS[kind].loads:
            metrics = verdict(instruction(kind, **told), text).metrics
            assert metrics["promptLoose"] or not metrics["promptStrict"]


UNITS = (".", "\n", " ", "[", "<", "*", "'", '"', "*\n", "a.", "A. ", "-", "?! ", "a@", "n't", "<<")


@pytest.mark.parametrize("unit", UNITS)
def test_a_hostile_text_is_judged_to_its_end(unit):
    text = (unit * 66_000)[:65_536]
    for kind, (told, _) in TABLE.items():
        instruction(kind, **told).is_followed(text)


def test_words_are_counted_as_runs_of_word_characters():
    assert words.word_count("it's 3 p.m. snake_case") == 6


def test_a_contraction_in_capitals_counts_twice():
    assert words.capital_word_count("DON'T") == 2
    assert words.capital_word_count("GIMME 5, THEY'RE") == 4


def test_paragraph_numbers_count_empty_paragraphs_but_their_number_does_not():
    assert marks.first_word_of_paragraph("a\n\n\n\nb", 2) == (2, None)
    assert marks.first_word_of_paragraph("a", 2) == (1, None)
