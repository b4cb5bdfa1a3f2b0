"""Solver for assignments: each row takes another column, at the least sum."""

from collections.abc import Sequence
from dataclasses import dataclass

Costs = Sequence[Sequence[int]]
"""A square of costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The cheapest assignment."""

    cost: int
    columns: tuple[int, ...]
    """The column that each row takes, of one cheapest assignment."""
    ways: int
    """How many assignments have this cost."""


def cheapest(costs: Costs) -> Assignment:
    """Return the cheapest assignment, by going over sets of taken columns row by row."""
    best = {0: Assignment(cost=0, columns=(), ways=1)}
    for row in costs:
        after: dict[int, Assignment] = {}
        for taken, known in best.items():
            for column, cost in enumerate(row):
                if taken >> column & 1:
                    continue
                key, total = taken | 1 << column, known.cost + cost
                rival = after.get(key)
                if rival is None or total < rival.cost:
                    after[key] = Assignment(
                        cost=total, columns=(*known.columns, column), ways=known.ways
                    )
                elif total == rival.cost:
                    after[key] = Assignment(
                        cost=total, columns=rival.columns, ways=rival.ways + known.ways
                    )
        best = after
    (found,) = best.values()
    return found


def row_by_row(costs: Costs) -> int:
    """Return the sum when each row in turn takes the cheapest column that is left."""
    left, total = set(range(len(costs))), 0
    for row in costs:
        column = min(left, key=lambda at: (row[at], at))
        left.remove(column)
        total += row[column]
    return total
