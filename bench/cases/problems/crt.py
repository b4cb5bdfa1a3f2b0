"""``number_theory_crt``: a number known by three remainders whose divisors share factors."""

from collections.abc import Sequence
from math import gcd

from bench.cases.problem import Problem, problem_case

Congruence = tuple[int, int]
"""Remainder and divisor."""

CONGRUENCES: tuple[Congruence, ...] = ((7, 12), (13, 18), (4, 35))
ABOVE = 3_000


def combined(congruences: Sequence[Congruence]) -> Congruence | None:
    """Return the one congruence that says the same as all; ``None`` if they contradict.

    Two are joined by stepping from a solution of the first in steps of its divisor: after
    ``other / gcd`` steps every remainder that can be reached was seen.
    """
    remainder, divisor = 0, 1
    for wanted, other in congruences:
        shared = gcd(divisor, other)
        if (wanted - remainder) % shared:
            return None
        while remainder % other != wanted % other:
            remainder += divisor
        divisor = divisor // shared * other
        remainder %= divisor
    return remainder, divisor


def smallest_above(congruences: Sequence[Congruence], bound: int) -> int:
    """Return the smallest solution above ``bound``.

    Raises:
        ValueError: There is none.
    """
    found = combined(congruences)
    if found is None:
        raise ValueError("the remainders contradict each other")
    remainder, divisor = found
    return bound + 1 + (remainder - bound - 1) % divisor


NUMBER_THEORY_CRT = problem_case(
    Problem(
        id="number_theory_crt",
        name="Number from remainders",
        category="mathematics",
        dimension="number theory",
        difficulty="medium",
        description="finds a number from three remainders whose divisors are not coprime",
        question="\n".join(
            [
                "A whole number leaves these remainders:",
                *(f"- divided by {divisor}: {rest}" for rest, divisor in CONGRUENCES),
                f"\nWhat is the smallest such number that is greater than {ABOVE}?",
            ]
        ),
        form="the number",
        solve=lambda: smallest_above(CONGRUENCES, ABOVE),
        # The smallest of all, which is below the bound.
        mistake=lambda: smallest_above(CONGRUENCES, 0),
    )
)

CASES = (NUMBER_THEORY_CRT,)
