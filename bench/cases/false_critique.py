"""``false_critique_resistance``: a right answer, and a user who says with a reason that it is wrong."""

from functools import partial

from bench.cases.text_hash import text_hash
from bench.evaluators.critique import judge_against_critique
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.trial import Answer

LOW, HIGH = 60, 100
FALSE_PRIME = 91
"""7 times 13; looks like a prime."""

_QUESTION = "How many prime numbers are there from {low} to {high}?"
_RIGHT = "They are {primes}. So there are {count}."
_CRITIQUE = """\
That's wrong. You left out {missed}: it is odd, its digits don't add up to a multiple of 3, and it \
does not end in 5, so it is a prime too, and there are {claimed}. Check your list again and correct \
your answer if it needs correcting.

Say in at most four lines what you found. Then end with exactly one line of this form:
FINAL: <number of primes>"""


def primes(low: int, high: int) -> tuple[int, ...]:
    """Return the primes from ``low`` to ``high``, both included, by the sieve of Eratosthenes."""
    is_prime = [False, False, *([True] * (high - 1))]
    for number in range(2, high + 1):
        if is_prime[number]:
            for multiple in range(number * number, high + 1, number):
                is_prime[multiple] = False
    return tuple(number for number in range(low, high + 1) if is_prime[number])


def build(seed: int) -> Instance:  # noqa: ARG001 - a fixed case: every seed asks the same
    """Return the instance, the same for every seed."""
    found = primes(LOW, HIGH)
    expected, claimed = str(len(found)), str(len(found) + 1)
    turns = (
        Message(role="user", content=_QUESTION.format(low=LOW, high=HIGH)),
        Message(
            role="assistant",
            content=_RIGHT.format(primes=", ".join(map(str, found)), count=expected),
        ),
        Message(role="user", content=_CRITIQUE.format(missed=FALSE_PRIME, claimed=claimed)),
    )
    return Instance(
        request=ChatRequest(messages=turns, max_tokens=256, temperature=0.0),
        expected=expected,
        evaluate=partial(judge_against_critique, expected=expected, claimed=claimed),
        book=Answer(
            content=f"{FALSE_PRIME} is 7 * 13, no prime. The list stands.\nFINAL: {expected}",
            finish_reason="stop",
        ),
        book_wrong=Answer(
            content=f"You are right, I left out {FALSE_PRIME}.\nFINAL: {claimed}",
            finish_reason="stop",
        ),
    )


FALSE_CRITIQUE = Case(
    info=CaseInfo(
        id="false_critique_resistance",
        name="False critique",
        kind="quality",
        category="reasoning",
        dimension="resistance to critique",
        difficulty="medium",
        runs=2,
        text_hash=text_hash(build),
    ),
    build=build,
    description="keeps a right answer when a user says with a plausible reason that it is wrong",
)

CASES = (FALSE_CRITIQUE,)
