"""``calibrated_probability``: the likelier of four events, and how sure the model is of it."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from itertools import product

from bench.cases.text_hash import text_hash
from bench.evaluators.confidence import judge_with_confidence
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.trial import Answer

DICE, SIDES = 4, 6

Roll = tuple[int, ...]

EVENTS: Mapping[str, tuple[str, Callable[[Roll], bool]]] = {
    "A": ("at least one die shows a six", lambda roll: SIDES in roll),
    "B": ("the sum of the dice is 13 or less", lambda roll: sum(roll) <= 13),  # noqa: PLR2004 - said beside it
    "C": (
        "exactly two of the dice show the same number and the other two differ from it and from "
        "each other",
        lambda roll: len(set(roll)) == 3,  # noqa: PLR2004 - three numbers on four dice
    ),
    "D": (
        "the highest die shows exactly four more than the lowest",
        lambda roll: max(roll) - min(roll) == 4,  # noqa: PLR2004 - said in the line above
    ),
}

_PROMPT = """\
Four fair six-sided dice are rolled. Which of these events is the most probable?

{events}

Reason briefly, in at most eight lines. Then say which event it is and how probable you think it \
is that your choice is right, as a number from 0 to 1. End with exactly one line of this form:
FINAL: <letter>|<probability>"""


@cache
def chances() -> Mapping[str, Fraction]:
    """Return the probability of each event, by going through all rolls."""
    rolls = list(product(range(1, SIDES + 1), repeat=DICE))
    return {
        letter: Fraction(sum(map(holds, rolls)), len(rolls))
        for letter, (_, holds) in EVENTS.items()
    }


def ranking() -> list[str]:
    """Return the letters, the most probable event first."""
    return sorted(EVENTS, key=lambda letter: chances()[letter], reverse=True)


def build(seed: int) -> Instance:  # noqa: ARG001 - a fixed case: every seed asks the same
    """Return the instance, the same for every seed."""
    expected, second, *_ = ranking()
    events = "\n".join(f"{letter}: {text}" for letter, (text, _) in EVENTS.items())
    return Instance(
        request=ChatRequest(
            messages=(Message(role="user", content=_PROMPT.format(events=events)),),
            max_tokens=512,
            temperature=0.0,
        ),
        expected=expected,
        evaluate=partial(judge_with_confidence, expected=expected),
        book=Answer(
            content=f"{expected} has the most favourable rolls.\nFINAL: {expected}|0.9",
            finish_reason="stop",
        ),
        book_wrong=Answer(content=f"FINAL: {second}|0.7", finish_reason="stop"),
    )


CALIBRATED_PROBABILITY = Case(
    info=CaseInfo(
        id="calibrated_probability",
        name="Calibrated probability",
        kind="quality",
        category="reasoning",
        dimension="calibration",
        difficulty="medium",
        runs=3,
        text_hash=text_hash(build),
    ),
    build=build,
    description="chooses the likeliest of four events and says how sure it is",
)

CASES = (CALIBRATED_PROBABILITY,)
