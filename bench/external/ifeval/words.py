"""Words and sentences as IFEval counts them. Every function is linear in its text."""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from punkt import PunktSentenceTokenizer

_WORD = re.compile(r"\w+")

# Where the Penn Treebank convention parts a word; only cuts between letters can change a count of
# words in capitals. A comma or colon inside a number stays, and so does a single full stop.
_ALWAYS_APART = re.compile(
    r"[;@#$%&?!*\[\](){}<>\"`\u00ab\u00bb\u2018\u2019\u201c-\u201e]|--|\.{2,}|''|[:,](?!\d)"
)
_CLITIC = re.compile(r"(?<=[^'\s])(?=(?:'(?:s|m|d|ll|re|ve)|n't)(?!\S))", re.IGNORECASE)
_OPENING_QUOTE = re.compile(r"'(?!re|ve|ll|m|t|s|d|n)(?=\w\b)", re.IGNORECASE)
_JOINED = re.compile(
    r"\b(?:(can)(not)|(d)('ye)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me)|(more)('n))\b"
    r"|\b(wan)(na)(?=\s)|(?<!\S)('t)(is|was)\b",
    re.IGNORECASE,
)


def word_count(text: str) -> int:
    """Return how many runs of letters, digits and underscores ``text`` has."""
    return sum(1 for _ in _WORD.finditer(text))


def sentence_count(text: str) -> int:
    """Return how many sentences Punkt (Kiss & Strunk, 2006) finds with its English model."""
    return sum(1 for _ in _sentences().span_tokenize(text))


def capital_word_count(text: str) -> int:
    """Return how many Penn Treebank tokens have letters, none of them small: `NASA`, `I`, `U.S.`.

    `DON'T` counts twice, as `DO` and `N'T`; `WELL-KNOWN` once.
    """
    spaced = _ALWAYS_APART.sub(" ", text)
    spaced = _OPENING_QUOTE.sub("' ", spaced)
    spaced = _CLITIC.sub(" ", spaced)
    spaced = _JOINED.sub(lambda match: " ".join(part for part in match.groups() if part), spaced)
    return sum(1 for token in spaced.split() if token.isupper())


def load() -> None:
    """Load the sentence model now, which takes a tenth of a second.

    Raises:
        ImportError: The optional package is not installed.
    """
    _sentences()


@cache
def _sentences() -> "PunktSentenceTokenizer":
    from punkt import PunktSentenceTokenizer, load_model

    return PunktSentenceTokenizer(load_model("english"))
