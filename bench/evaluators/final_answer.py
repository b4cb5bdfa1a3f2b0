r"""The last ``FINAL: ...`` line of an answer, else its last line, compared with the right one.

Two verdicts are made. The strict one reads the line as it stands. The one that counts also looks
through typography that says nothing about the answer: Markdown emphasis, ``\boxed{}``, a trailing
full stop and, for numbers, the spellings in ``number_text``. ``metrics.seedPassed`` is the strict
one; it is more generous only where a plain ``FINAL:`` is followed by a decorated other one.
"""

import re
import unicodedata

from bench.evaluators.excerpt import excerpt, tail_lines
from bench.evaluators.number_text import canonical_number
from bench.model.trial import Answer, Evaluation

MAX_ANSWER_CHARACTERS = 1_000
"""No right answer is longer; a longer one is wrong without being looked into."""

_QUOTES = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a"
_EMPHASIS = "*_"
_STRICT_LINE = re.compile(r"\s*FINAL:(.*)")
_LOOSE_LINE = re.compile(r"[\s>#*_`+\-\u2022]*FINAL[*_`]*\s*[:\uff1a](.*)", re.IGNORECASE)
_CLOSING_LINE = re.compile(r"\s*(?:\\\]|\\\)|\$\$|`{3,}|~{3,}|-{3,}|\*{3,})\s*")
_WRAPPERS = (("\\boxed{", "}"), ("\\text{", "}"), ("\\(", "\\)"), ("\\[", "\\]"), ("$", "$"))
_MAX_LAYERS = 6
"""Emphasis in a box in a formula in quotes is four; nobody needs more."""


def judge_text(answer: Answer, *, expected: str, exact_case: bool = False) -> Evaluation:
    """Compare the final answer with ``expected``: white space removed, lower-cased.

    Args:
        answer: What the model said.
        expected: The right answer.
        exact_case: Compare letters and inner white space as they are: for cases whose point
            is upper case.
    """
    wanted = _comparable(expected, exact_case=exact_case)
    strict = final_text(answer.content)
    loose = loose_final_text(answer.content)
    is_strict = strict is not None and _comparable(strict, exact_case=exact_case) == wanted
    said = None if loose is None else _comparable(unwrapped(loose), exact_case=exact_case)
    return _verdict(answer, expected=expected, said=said, wanted=wanted, is_strict=is_strict)


def judge_number(answer: Answer, *, expected: str) -> Evaluation:
    """Compare the final answer with ``expected``, a number as plain ASCII digits."""
    strict = final_text(answer.content)
    loose = loose_final_text(answer.content)
    is_strict = strict is not None and _comparable(strict) == expected
    said = None if loose is None else _number_or_text(unwrapped(loose))
    return _verdict(answer, expected=expected, said=said, wanted=expected, is_strict=is_strict)


def final_text(content: str) -> str | None:
    """Return the text behind the last ``FINAL:`` that begins a line, else the last line.

    Returns:
        Trimmed text; ``None`` if there is no line with anything in it.
    """
    lines = _filled_lines(content)
    for line in reversed(lines):
        match = _STRICT_LINE.fullmatch(line)
        if match is not None and match[1].strip():
            return match[1].strip()
    return lines[-1].strip() if lines else None


def loose_final_text(content: str) -> str | None:
    """Return the same through Markdown: a decorated ``final:`` counts, closing lines do not."""
    lines = [line for line in _filled_lines(content) if not _CLOSING_LINE.fullmatch(line)]
    for index in range(len(lines) - 1, -1, -1):
        match = _LOOSE_LINE.fullmatch(lines[index])
        if match is not None:
            said = match[1].strip(f" \t{_EMPHASIS}")
            if said or index == len(lines) - 1:
                return said or None
            return lines[index + 1].strip()
    return lines[-1].strip() if lines else None


def _filled_lines(content: str) -> list[str]:
    return [line for line in tail_lines(content) if line.strip()]


def _comparable(text: str, *, exact_case: bool = False) -> str:
    trimmed = text[: MAX_ANSWER_CHARACTERS + 1].strip().strip(_QUOTES).strip()
    return trimmed if exact_case else "".join(trimmed.split()).lower()


def _number_or_text(text: str) -> str:
    number = canonical_number(text.strip(_QUOTES))
    return _comparable(text) if number is None else number


def unwrapped(text: str) -> str:
    """Return ``text`` without emphasis, quotes, formula signs, format characters, full stop."""
    # Direction marks and zero-width characters (category Cf) are invisible to who reads it.
    seen = text[: MAX_ANSWER_CHARACTERS + 1]
    seen = "".join(character for character in seen if not _is_invisible(character)).strip()
    # A letter and its accent may come as one character or as two.
    seen = unicodedata.normalize("NFC", seen)
    for _ in range(_MAX_LAYERS):
        inner = seen.removesuffix(".").strip().strip(_EMPHASIS + _QUOTES).strip()
        for opening, closing in _WRAPPERS:
            if inner.startswith(opening) and inner.endswith(closing) and len(inner) > len(opening):
                inner = inner[len(opening) : -len(closing)].strip()
        if inner == seen:
            break
        seen = inner
    return seen


def _is_invisible(character: str) -> bool:
    return "\u200b" <= character <= "\u200f" or character in "\u2060\u2066\u2067\u2068\u2069\ufeff"


def _verdict(
    answer: Answer, *, expected: str, said: str | None, wanted: str, is_strict: bool
) -> Evaluation:
    # The strict verdict does not help here: a plain line may be followed by a decorated other one.
    passed = said == wanted
    shown = expected if passed else said
    return Evaluation(
        passed=passed,
        answer=None if shown is None else excerpt(shown),
        expected=expected,
        detail=None if passed else _reason(answer, shown),
        score=1.0 if passed else 0.0,
        metrics={"seedPassed": is_strict},
    )


def _reason(answer: Answer, said: str | None) -> str:
    problem = "the answer holds no text" if said is None else "another answer than expected"
    cut = "; it was cut at its token limit" if answer.finish_reason == "length" else ""
    return f"{problem}{cut}"
