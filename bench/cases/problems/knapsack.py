"""``knapsack``: the most valuable load of a cart; the best ratio first does not find it."""

from collections.abc import Sequence

from bench.cases.problem import Problem, problem_case

Item = tuple[str, int, int]
"""Name, weight, value."""

CAPACITY = 47
ITEMS: tuple[Item, ...] = (
    ("anvil", 19, 62), ("barrel", 15, 50), ("crate", 13, 41), ("drum", 11, 36),
    ("easel", 9, 24), ("flask", 6, 20), ("grate", 17, 53), ("hamper", 5, 12),
)  # fmt: skip


def best_value(items: Sequence[Item], capacity: int) -> int:
    """Return the largest total value of items that together weigh at most ``capacity``."""
    best = [0] * (capacity + 1)
    for _, weight, value in items:
        # Downwards, so that no item is taken twice.
        for room in range(capacity, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best[capacity]


def value_by_ratio(items: Sequence[Item], capacity: int) -> int:
    """Return the value of always taking the item that is worth most per weight and still fits."""
    total = 0
    for _, weight, value in sorted(items, key=lambda item: item[2] / item[1], reverse=True):
        if weight <= capacity:
            capacity -= weight
            total += value
    return total


KNAPSACK = problem_case(
    Problem(
        id="knapsack",
        name="Knapsack",
        category="reasoning",
        dimension="optimisation",
        difficulty="medium",
        description="packs the most valuable load under a weight limit where the best ratio misleads",
        question="\n".join(
            [
                f"A cart carries at most {CAPACITY} kg. Each of these things exists once and can "
                "be taken whole or not at all:",
                *(f"- {name}: {weight} kg, worth {value}" for name, weight, value in ITEMS),
                "\nWhat is the greatest total worth that the cart can carry?",
            ]
        ),
        form="the total worth",
        solve=lambda: best_value(ITEMS, CAPACITY),
        mistake=lambda: value_by_ratio(ITEMS, CAPACITY),
    )
)

CASES = (KNAPSACK,)
