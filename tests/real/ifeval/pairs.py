"""Instructions and answers drawn from one seed: every kind, arguments near what texts hold."""

# ruff: noqa: RUF001 - texts in other scripts are what is asked here

import random
from collections.abc import Callable, Iterator
from typing import Any

from bench.external.ifeval.kinds import ANSWERS, KINDS
from bench.external.ifeval.language import LANGUAGES

Pair = dict[str, Any]

_SENTENCES = (
    "Dr. Smith met Mr. O'Neil at 5 p.m. on Jan. 3rd.",
    "It costs $1,234.50, i.e. a lot!",
    "Is this the end? No... it goes on",
    "The U.S. economy grew by 2.5% in Q3.",
    "NASA's budget isn't small; DON'T ask.",
    'SHE SAID "WE\'VE WON" AND I AGREED.',
    "THE WELL-KNOWN ACT (SECTION 4) WAS REPEALED.",
    "GIMME THAT, I'M GONNA GO: CANNOT WAIT",
    "this is all in small letters, as you see",
    "THIS IS ALL IN CAPITAL LETTERS AND NOTHING ELSE",
    "Visit https://example.com/a-b or mail me@example.org.",
    "Das ist ein ganz normaler Satz über das Wetter in Berlin.",
    "Ceci est une phrase tout à fait normale, n'est-ce pas ?",
    "Это обычное предложение о погоде.",
    "これは天気についての普通の文です。",
    "هذه جملة عادية عن الطقس.",
    "यह मौसम के बारे में एक सामान्य वाक्य है।",
    "Hii ni sentensi ya kawaida kuhusu hali ya hewa leo.",
    "Esta es una frase normal sobre el tiempo.",
    "A cat sat on the mat. The cat left.",
    "Rock 'n' roll, 'twas the '90s, y'all.",
    "A.B.C. and X.Y. are letters; e.g. this one.",
    "Well--that is--odd...NO!",
    "snake_case and CamelCase and R2-D2 42 3,5",
)
_LINES = (
    "* a bullet",
    "  * another",
    "*tight",
    "** not one",
    "**bold** and *thin*",
    "*",
    "-",
    "- dash",
    "-- two",
    "---",
    "***",
    "*** divided ***",
    "******",
    "<<A title>>",
    "<<>>",
    "<< >> x >>",
    "<<<odd>>>",
    "[name] and [address",
    "[] [x] ]",
    "P.S. I forgot",
    "p. s. later",
    "P.P.S more",
    "P.P.S. more",
    "PS none",
    "SECTION 1",
    "SECTION 2 text",
    "Section3",
    "Day 1 Day 2",
    '{"a": [1, 2]}',
    "```json",
    "```",
    '"',
    '"quoted"',
    "'single'",
    "",
    "",
    "",
    " ",
    "\t",
    "Hello, World",
    "hello again.",
    "Sure! Here is it:",
    "Let me know if that helps",
    "any other questions?",
    *ANSWERS,
    "My answer is yes",
    "5 \u2013 6 \u201cquoted\u201d \u00abtext\u00bb",
    "a\u2028b\u0085c\r",
    "I I'D I'LL WE'RE 'S ''S O'CLOCK D'YE MORE'N WANNA 'TIS",
)
_BY_LANGUAGE = {
    "de": ("Das ist ein ganz normaler Satz über das Wetter in Berlin.", "Heute regnet es."),
    "fr": ("Ceci est une phrase tout à fait normale.", "Il pleut aujourd'hui, je crois."),
    "ru": ("Это обычное предложение о погоде.", "Сегодня идёт дождь."),
    "ja": ("これは天気についての普通の文です。", "今日は雨です。"),
    "sw": ("Hii ni sentensi ya kawaida kuhusu hali ya hewa.", "Leo mvua inanyesha."),
    "es": ("Esta es una frase normal sobre el tiempo.", "Hoy llueve."),
    "en": ("This is quite a normal sentence.", "It rains.", "ok", "42"),
    "ar": ("هذه جملة عادية عن الطقس.",),
    "hi": ("यह मौसम के बारे में एक सामान्य वाक्य है।", "मौसम hi"),
}
_WORDS = ("cat", "the", "weather", "NASA", "is", "AND", "satz", "temps", "a", "section", "don't")
_ENDS = ("that helps", "Any other questions?", "the end", "?", "yes.", 'it"')


def pairs(*, per_kind: int, seed: int) -> Iterator[Pair]:
    """Yield ``per_kind`` pairs of each kind; the same for the same seed."""
    for kind in sorted(KINDS):
        draw = random.Random(f"{seed} {kind}")
        for _ in range(per_kind):
            told = _told(kind, draw)
            yield {"kind": kind, "told": told, "text": _text(kind, told, draw)}


def _told(kind: str, draw: random.Random) -> dict[str, Any]:
    return {name: _ARGUMENTS[name](draw) for name in KINDS[kind].wants}


_ARGUMENTS: dict[str, Callable[[random.Random], Any]] = {
    "relation": lambda draw: draw.choice(("less than", "at least")),
    "let_relation": lambda draw: draw.choice(("less than", "at least")),
    "capital_relation": lambda draw: draw.choice(("less than", "at least")),
    "num_words": lambda draw: draw.randint(1, 60),
    "num_sentences": lambda draw: draw.randint(1, 9),
    "capital_frequency": lambda draw: draw.randint(1, 12),
    "frequency": lambda draw: draw.randint(1, 4),
    "let_frequency": lambda draw: draw.randint(1, 12),
    "letter": lambda draw: draw.choice("aeisntxzqE!#"),
    "keyword": lambda draw: draw.choice(_WORDS),
    "keywords": lambda draw: draw.sample(_WORDS, draw.randint(1, 2)),
    "forbidden_words": lambda draw: draw.sample(_WORDS, draw.randint(1, 3)),
    "language": lambda draw: draw.choice(
        (*sorted(LANGUAGES), "de", "en", "en", "fr", "ru", "ja", "sw", "es")
    ),
    "num_paragraphs": lambda draw: draw.randint(1, 4),
    "nth_paragraph": lambda draw: draw.randint(1, 3),
    "first_word": lambda draw: draw.choice(("hello", "Sure", "a", "it", "this", "dr")),
    "num_placeholders": lambda draw: draw.randint(1, 4),
    "postscript_marker": lambda draw: draw.choice(("P.S.", "P.P.S")),
    "num_bullets": lambda draw: draw.randint(1, 4),
    "num_highlights": lambda draw: draw.randint(1, 4),
    "section_spliter": lambda draw: draw.choice(("SECTION", "Section", "Day")),
    "num_sections": lambda draw: draw.randint(1, 3),
    "prompt_to_repeat": lambda draw: draw.choice(("Hello, World", "Say hello. Twice")),
    "end_phrase": lambda draw: draw.choice(_ENDS),
}

_FITTING: dict[str, Callable[[str, dict[str, Any], random.Random], str]] = {
    "detectable_content:number_placeholders": lambda text, told, draw: _with_lines(
        text, ("[name] and more", "[address", "a [b] c]"), told["num_placeholders"], draw
    ),
    "detectable_content:postscript": lambda text, told, draw: (
        f"{text}\n{draw.choice(('P.S. late', 'p.p.s late', 'P. P. S', told['postscript_marker']))}"
    ),
    "detectable_format:multiple_sections": lambda text, told, draw: _with_lines(
        text, ("SECTION 1", "Section 2: more", "Day 3 Day 4", "SECTION"), told["num_sections"], draw
    ),
    "detectable_format:number_bullet_lists": lambda _, told, draw: _with_lines(
        "Some of them:", ("* one", " - two", "*three", "* **four**"), told["num_bullets"], draw
    ),
    "detectable_format:number_highlighted_sections": lambda text, told, draw: _with_lines(
        text, ("*one*", "a *two* b", "**three**", "* *"), told["num_highlights"], draw
    ),
    "detectable_format:title": lambda text, _, draw: _with_lines(
        text, ("<<A title>>", "<<>>", "x << >> y >>", "<<a"), 1, draw
    ),
    "detectable_format:constrained_response": lambda text, _, draw: (
        f"{text} {draw.choice((*ANSWERS, 'My answer is yes', 'my answer is no.'))}"
    ),
    "language:response_language": lambda _, told, draw: " ".join(
        draw.choices(_BY_LANGUAGE.get(told["language"], _SENTENCES), k=2)
    ),
    "length_constraints:nth_paragraph_first_word": lambda text, told, draw: (
        "\n\n".join(
            f"{draw.choice((told['first_word'], 'The'))}{draw.choice((' then', '. So', ', and'))}"
            for _ in range(told["num_paragraphs"])
        )
        + draw.choice(("", "\n\n", "\n\n\n\nlast"))
    ),
    "length_constraints:number_paragraphs": lambda _, told, draw: draw.choice(
        ("\n***\n", " *** ", "***", "\n*** ***\n")
    ).join(draw.choices(_SENTENCES, k=told["num_paragraphs"] + draw.choice((0, 0, 1)))),
    "combination:repeat_prompt": lambda text, told, draw: (
        f"{draw.choice((' ', '', 'x'))}{draw.choice((told['prompt_to_repeat'], told['prompt_to_repeat'].upper()))}\n{text}"
    ),
    "combination:two_responses": lambda text, _, draw: (
        draw.choice(("", "******")) + f"{text}******{draw.choice((text, 'another', ' '))}"
    ),
    "detectable_format:json_format": lambda _, __, draw: draw.choice(
        (
            '{"a": 1}',
            '```json\n{"a": [1, NaN]}\n```',
            "```\n[]\n```",
            '{"a": 1,}',
            "Here:\n{}\nDone",
            "  3  ",
            "*{}*",
            "```JSON[1]```",
        )
    ),
    "startend:end_checker": lambda text, told, draw: (
        f"{text} {told['end_phrase']}{draw.choice(('', '.', ' ', chr(34)))}"
    ),
    "startend:quotation": lambda text, _, draw: f'"{text}{draw.choice(("", chr(34), ". "))}',
    "change_case:english_capital": lambda text, _, __: text.upper(),
    "change_case:english_lowercase": lambda text, _, __: text.lower(),
}


def _with_lines(text: str, lines: tuple[str, ...], wanted: int, draw: random.Random) -> str:
    """Return ``text`` and about as many of ``lines`` as are wanted."""
    count = max(0, wanted + draw.choice((-1, 0, 0, 1)))
    return "\n".join((text, *draw.choices(lines, k=count)))


def _text(kind: str, told: dict[str, Any], draw: random.Random) -> str:
    lines = [
        " ".join(draw.sample(_SENTENCES, draw.randint(1, 3)))
        if draw.random() < 0.4
        else draw.choice(_LINES)
        for _ in range(draw.randint(1, 9))
    ]
    text = draw.choice(("\n", "\n", "\n\n", "\n***\n")).join(lines)
    if kind in _FITTING and draw.random() < 0.7:
        text = _FITTING[kind](text, told, draw)
    return text
