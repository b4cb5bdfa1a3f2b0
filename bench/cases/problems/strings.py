"""``constrained_strings``: how many words avoid two forbidden pieces."""

from collections import Counter
from collections.abc import Sequence

from bench.cases.problem import Problem, problem_case

ALPHABET = "ABC"
LENGTH = 8
FORBIDDEN = ("AA", "BCB")


def words_without(alphabet: str, length: int, forbidden: Sequence[str]) -> int:
    """Return how many words hold none of ``forbidden``.

    Counts words by their last letters, as many as a forbidden piece may still need.
    """
    kept = max(map(len, forbidden), default=1) - 1
    endings = Counter({"": 1})
    for _ in range(length):
        longer: Counter[str] = Counter()
        for ending, count in endings.items():
            for letter in alphabet:
                word = ending + letter
                if not any(word.endswith(piece) for piece in forbidden):
                    longer[word[-kept:] if kept else ""] += count
        endings = longer
    return endings.total()


CONSTRAINED_STRINGS = problem_case(
    Problem(
        id="constrained_strings",
        name="Constrained strings",
        category="mathematics",
        dimension="combinatorics",
        difficulty="hard",
        description="counts the words that avoid two forbidden pieces",
        question=f"How many words of exactly {LENGTH} letters over the alphabet "
        f"{', '.join(ALPHABET)} contain neither {FORBIDDEN[0]} nor {FORBIDDEN[1]} as consecutive "
        "letters?",
        form="the number of words",
        solve=lambda: words_without(ALPHABET, LENGTH, FORBIDDEN),
        mistake=lambda: words_without(ALPHABET, LENGTH, FORBIDDEN[:1]),
    )
)

CASES = (CONSTRAINED_STRINGS,)
