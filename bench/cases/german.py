"""``multilingual_instruction_german``: a German task whose answer is a German numeral."""

from functools import partial

from bench.cases.text_hash import text_hash
from bench.evaluators.final_answer import judge_text
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.trial import Answer

TABLES, CHAIRS_PER_TABLE, BROKEN, BENCH_SEATS = 14, 4, 9, 6

_PROMPT = """\
Lies die Notiz und beantworte die Frage auf Deutsch.

Notiz: Im Gemeindesaal stehen {tables} Tische mit je {chairs} Stühlen. {broken} Stühle sind kaputt \
und werden nicht benutzt. An der Wand steht eine Bank mit {bench} Plätzen. Der Flügel daneben wird \
erst nächste Woche gestimmt.

Frage: Wie viele Gäste können sitzen?

Schreibe höchstens drei kurze Sätze. Beende deine Antwort mit genau einer Zeile der folgenden Form; \
die Zahl steht als Zahlwort in Großbuchstaben, Umlaute bleiben Umlaute:
FINAL: <ZAHLWORT>"""

_ONES = ("", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")
_TENS = ("", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig",
         "neunzig")  # fmt: skip


def seats() -> int:
    """Return how many guests can sit."""
    return TABLES * CHAIRS_PER_TABLE - BROKEN + BENCH_SEATS


def numeral(number: int) -> str:
    """Return the German numeral: the ones are said before the tens.

    Args:
        number: 21..99.
    """
    tens, ones = divmod(number, 10)
    return f"{_ONES[ones]}und{_TENS[tens]}" if ones else _TENS[tens]


def build(seed: int) -> Instance:  # noqa: ARG001 - a fixed case: every seed asks the same
    """Return the instance, the same for every seed."""
    number = seats()
    expected = numeral(number).upper()
    swapped = numeral(number % 10 * 10 + number // 10).upper()
    prompt = _PROMPT.format(
        tables=TABLES, chairs=CHAIRS_PER_TABLE, broken=BROKEN, bench=BENCH_SEATS
    )
    return Instance(
        request=ChatRequest(
            messages=(Message(role="user", content=prompt),),
            max_tokens=256,
            temperature=0.0,
        ),
        expected=expected,
        evaluate=partial(judge_text, expected=expected, exact_case=True),
        book=Answer(
            content=f"Es gibt {number} benutzbare Plätze.\nFINAL: {expected}", finish_reason="stop"
        ),
        book_wrong=Answer(content=f"FINAL: {swapped}", finish_reason="stop"),
    )


MULTILINGUAL_GERMAN = Case(
    info=CaseInfo(
        id="multilingual_instruction_german",
        name="German instruction",
        kind="quality",
        category="instruction following",
        dimension="multilingual",
        difficulty="easy",
        runs=2,
        text_hash=text_hash(build),
    ),
    build=build,
    description="follows a German instruction down to a numeral with umlauts in capitals",
)

CASES = (MULTILINGUAL_GERMAN,)
