"""``number_theory_powmod``: a power far too large to write down, modulo a prime."""

from bench.cases.problem import Problem, problem_case

BASE = 38
EXPONENT = 20_317
MODULUS = 997
"""A prime, so the exponent may be reduced modulo 996."""


def power_modulo(base: int, exponent: int, modulus: int) -> int:
    """Return ``base ** exponent % modulus`` by squaring: one or two products per binary digit."""
    result, square = 1 % modulus, base % modulus
    while exponent:
        if exponent & 1:
            result = result * square % modulus
        square = square * square % modulus
        exponent >>= 1
    return result


NUMBER_THEORY_POWMOD = problem_case(
    Problem(
        id="number_theory_powmod",
        name="Power modulo a prime",
        category="mathematics",
        dimension="number theory",
        difficulty="hard",
        description="computes a large power modulo a prime: a shortcut, then exact arithmetic",
        question=f"What is the remainder when {BASE}^{EXPONENT} is divided by the prime {MODULUS}?",
        form="the remainder",
        solve=lambda: power_modulo(BASE, EXPONENT, MODULUS),
        # The exponent reduced by the prime instead of by one less.
        mistake=lambda: power_modulo(BASE, EXPONENT % MODULUS, MODULUS),
    )
)

CASES = (NUMBER_THEORY_POWMOD,)
