"""``edit_distance``: the cheapest way to turn one word into another, each kind of edit priced."""

from dataclasses import dataclass

from bench.cases.problem import Problem, problem_case

SOURCE, GOAL = "lanterns", "planetary"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPrices:
    """What one edit costs."""

    insert: int
    delete: int
    replace: int


PRICES = EditPrices(insert=2, delete=3, replace=4)


def edit_cost(source: str, goal: str, prices: EditPrices) -> int:
    """Return the least cost of edits that turn ``source`` into ``goal`` (Wagner and Fischer)."""
    above = [column * prices.insert for column in range(len(goal) + 1)]
    for row, old in enumerate(source, start=1):
        current = [row * prices.delete]
        for column, new in enumerate(goal, start=1):
            current.append(
                min(
                    above[column] + prices.delete,
                    current[-1] + prices.insert,
                    above[column - 1] + (0 if old == new else prices.replace),
                )
            )
        above = current
    return above[-1]


def cost_place_by_place(source: str, goal: str, prices: EditPrices) -> int:
    """Return the cost of replacing each letter by the one in its place and inserting the rest."""
    replaced = sum(old != new for old, new in zip(source, goal, strict=False))
    return replaced * prices.replace + max(len(goal) - len(source), 0) * prices.insert


EDIT_DISTANCE = problem_case(
    Problem(
        id="edit_distance",
        name="Edit distance with prices",
        category="code",
        dimension="dynamic programming",
        difficulty="hard",
        description="finds the cheapest edits from one word to another",
        question=f"The word `{SOURCE}` is to become the word `{GOAL}`. Inserting a letter costs "
        f"{PRICES.insert}, deleting one costs {PRICES.delete}, replacing one by another costs "
        f"{PRICES.replace}; a letter that stays costs nothing. What is the least total cost?",
        form="the total cost",
        solve=lambda: edit_cost(SOURCE, GOAL, PRICES),
        mistake=lambda: cost_place_by_place(SOURCE, GOAL, PRICES),
    )
)

CASES = (EDIT_DISTANCE,)
