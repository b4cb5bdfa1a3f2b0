"""``hypergeometric``: a probability of drawing without putting back, as one whole number."""

from fractions import Fraction

from bench.cases.problem import Problem, problem_case

RED, BLUE, DRAWN, AT_LEAST = 8, 13, 6, 3


def chance_of_at_least(marked: int, others: int, drawn: int, at_least: int) -> Fraction:
    """Return the probability that ``drawn`` pieces hold ``at_least`` marked ones.

    Draws one piece after another and follows the probability of each number of marked ones.
    """
    chances = {0: Fraction(1)}
    for taken in range(drawn):
        after: dict[int, Fraction] = {}
        for hits, chance in chances.items():
            left = marked + others - taken
            hit = Fraction(marked - hits, left)
            after[hits + 1] = after.get(hits + 1, Fraction(0)) + chance * hit
            after[hits] = after.get(hits, Fraction(0)) + chance * (1 - hit)
        chances = after
    return sum((c for hits, c in chances.items() if hits >= at_least), Fraction(0))


def parts_added(chance: Fraction) -> int:
    """Return numerator plus denominator in lowest terms."""
    return chance.numerator + chance.denominator


HYPERGEOMETRIC = problem_case(
    Problem(
        id="hypergeometric",
        name="Drawing without putting back",
        category="mathematics",
        dimension="probability",
        difficulty="hard",
        description="computes the exact probability of a draw without putting back",
        question=f"A bag holds {RED} red and {BLUE} blue beads. {DRAWN} beads are drawn at random "
        f"without putting any back. The probability that at least {AT_LEAST} of them are red is a "
        "fraction p/q in lowest terms. What is p + q?",
        form="p + q",
        solve=lambda: parts_added(chance_of_at_least(RED, BLUE, DRAWN, AT_LEAST)),
        # More than three instead of at least three.
        mistake=lambda: parts_added(chance_of_at_least(RED, BLUE, DRAWN, AT_LEAST + 1)),
    )
)

CASES = (HYPERGEOMETRIC,)
