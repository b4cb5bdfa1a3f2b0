"""The 25 kinds of instructions: what each is told, and how it is checked.

Words that an instruction names are looked for as they are, never as patterns.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bench.external.ifeval import language, marks, words

Relation = Literal["less than", "at least"]
Read = Callable[[object], Any]
"""Argument as the data has it → value. Raises ``ValueError`` whose text says what is needed."""

ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of instruction."""

    id: str
    wants: Mapping[str, Read]
    """Arguments by name; all of them are needed."""
    follows: Callable[..., bool]
    """Text and arguments → whether the text does what was asked. Never raises, whatever the text."""
    loads: tuple[Callable[[], None], ...] = ()
    """What has to be in memory before an answer is judged."""


def _whole(raw: object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or raw != int(raw) or raw < 0:
        raise ValueError("a whole number from 0 is needed")
    return int(raw)


def _text(raw: object) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError("some text is needed")
    return raw


def _trimmed(raw: object) -> str:
    return _text(raw).strip()


def _texts(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, list) or not raw:
        raise ValueError("a list of texts is needed")
    return tuple(_text(entry) for entry in raw)


def _letter(raw: object) -> str:
    letter = _trimmed(raw).lower()
    if len(letter) != 1:
        raise ValueError("one character is needed")
    return letter


def _relation(raw: object) -> Relation:
    if raw == "less than":
        return "less than"
    if raw == "at least":
        return "at least"
    raise ValueError("`less than` or `at least` is needed")


def _language(raw: object) -> str:
    if not isinstance(raw, str) or raw not in language.LANGUAGES:
        listed = ", ".join(sorted(language.LANGUAGES))
        message = f"one of these languages is needed: {listed}"
        raise ValueError(message)
    return raw


def _holds(count: int, relation: Relation, wanted: int) -> bool:
    return count < wanted if relation == "less than" else count >= wanted


def _occurrences(text: str, wanted: str) -> int:
    return sum(1 for _ in re.finditer(re.escape(wanted), text, re.IGNORECASE))


def _has_all(text: str, *, keywords: tuple[str, ...]) -> bool:
    return all(re.search(re.escape(word), text, re.IGNORECASE) for word in keywords)


def _has_none(text: str, *, forbidden_words: tuple[str, ...]) -> bool:
    return not any(
        re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
        for word in forbidden_words
    )


def _begins_paragraph(
    text: str, *, num_paragraphs: int, nth_paragraph: int, first_word: str
) -> bool:
    found = marks.first_word_of_paragraph(text, nth_paragraph)
    return found == (num_paragraphs, first_word.lower())


def _ends_with(text: str, *, end_phrase: str) -> bool:
    return text.strip().strip('"').lower().endswith(end_phrase.lower())


def _is_quoted(text: str) -> bool:
    trimmed = text.strip()
    return len(trimmed) > 1 and trimmed[0] == trimmed[-1] == '"'


_COUNTS: tuple[tuple[str, str, str, Callable[[str], int], tuple[Callable[[], None], ...]], ...] = (
    ("length_constraints:number_words", "relation", "num_words", words.word_count, ()),
    (
        "length_constraints:number_sentences",
        "relation",
        "num_sentences",
        words.sentence_count,
        (words.load,),
    ),
    (
        "change_case:capital_word_frequency",
        "capital_relation",
        "capital_frequency",
        words.capital_word_count,
        (),
    ),
)
"""Kinds that compare a count: id, name of the relation, name of the number, what is counted."""


def _counting(
    kind: str,
    relation: str,
    number: str,
    count: Callable[[str], int],
    loads: tuple[Callable[[], None], ...],
) -> Kind:
    def follows(text: str, **told: Any) -> bool:  # noqa: ANN401 - names differ by kind
        return _holds(count(text), told[relation], told[number])

    return Kind(id=kind, wants={relation: _relation, number: _whole}, follows=follows, loads=loads)


KINDS: Mapping[str, Kind] = {
    kind.id: kind
    for kind in (
        *(_counting(*row) for row in _COUNTS),
        Kind(id="keywords:existence", wants={"keywords": _texts}, follows=_has_all),
        Kind(
            id="keywords:frequency",
            wants={"keyword": _trimmed, "frequency": _whole, "relation": _relation},
            follows=lambda text, keyword, frequency, relation: _holds(
                _occurrences(text, keyword), relation, frequency
            ),
        ),
        Kind(id="keywords:forbidden_words", wants={"forbidden_words": _texts}, follows=_has_none),
        Kind(
            id="keywords:letter_frequency",
            wants={"letter": _letter, "let_frequency": _whole, "let_relation": _relation},
            follows=lambda text, letter, let_frequency, let_relation: _holds(
                text.lower().count(letter), let_relation, let_frequency
            ),
        ),
        Kind(
            id="language:response_language",
            wants={"language": _language},
            follows=lambda text, **told: language.is_in_language(text, told["language"]),
            loads=(language.load,),
        ),
        Kind(
            id="length_constraints:number_paragraphs",
            wants={"num_paragraphs": _whole},
            follows=lambda text, num_paragraphs: marks.divided_paragraphs(text) == num_paragraphs,
        ),
        Kind(
            id="length_constraints:nth_paragraph_first_word",
            wants={"num_paragraphs": _whole, "nth_paragraph": _whole, "first_word": _text},
            follows=_begins_paragraph,
        ),
        Kind(
            id="detectable_content:number_placeholders",
            wants={"num_placeholders": _whole},
            follows=lambda text, num_placeholders: (
                marks.placeholder_count(text) >= num_placeholders
            ),
        ),
        Kind(
            id="detectable_content:postscript",
            wants={"postscript_marker": _trimmed},
            follows=marks.has_postscript,
        ),
        Kind(
            id="detectable_format:number_bullet_lists",
            wants={"num_bullets": _whole},
            follows=lambda text, num_bullets: marks.bullet_count(text) == num_bullets,
        ),
        Kind(
            id="detectable_format:constrained_response",
            wants={},
            follows=lambda text: any(answer in text for answer in ANSWERS),
        ),
        Kind(
            id="detectable_format:number_highlighted_sections",
            wants={"num_highlights": _whole},
            follows=lambda text, num_highlights: marks.highlight_count(text) >= num_highlights,
        ),
        Kind(
            id="detectable_format:multiple_sections",
            wants={"section_spliter": _trimmed, "num_sections": _whole},
            follows=lambda text, section_spliter, num_sections: (
                marks.section_count(text, section_spliter) >= num_sections
            ),
        ),
        Kind(id="detectable_format:json_format", wants={}, follows=marks.is_json),
        Kind(id="detectable_format:title", wants={}, follows=marks.has_title),
        Kind(id="combination:two_responses", wants={}, follows=marks.has_two_answers),
        Kind(
            id="combination:repeat_prompt",
            wants={"prompt_to_repeat": _trimmed},
            follows=lambda text, prompt_to_repeat: (
                text.strip().lower().startswith(prompt_to_repeat.lower())
            ),
        ),
        Kind(id="startend:end_checker", wants={"end_phrase": _trimmed}, follows=_ends_with),
        Kind(id="startend:quotation", wants={}, follows=_is_quoted),
        Kind(
            id="change_case:english_capital",
            wants={},
            follows=lambda text: text.isupper() and language.is_in_language(text, "en"),
            loads=(language.load,),
        ),
        Kind(
            id="change_case:english_lowercase",
            wants={},
            follows=lambda text: text.islower() and language.is_in_language(text, "en"),
            loads=(language.load,),
        ),
        Kind(id="punctuation:no_comma", wants={}, follows=lambda text: "," not in text),
    )
}
