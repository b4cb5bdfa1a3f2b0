"""``topological_orders``: in how many orders a few jobs with prerequisites can be done."""

from collections.abc import Collection
from functools import cache

from bench.cases.problem import Problem, problem_case

Before = tuple[str, str]
"""The first job comes somewhere before the second."""

JOBS = "ABCDEFG"
RULES: tuple[Before, ...] = (("A", "C"), ("B", "C"), ("B", "D"), ("C", "E"), ("D", "F"), ("E", "G"))


def orders(jobs: str, rules: Collection[Before]) -> int:
    """Return how many orders of ``jobs`` keep all ``rules``, by counting over sets of done jobs."""
    needed = {job: {first for first, second in rules if second == job} for job in jobs}

    @cache
    def ways(done: frozenset[str]) -> int:
        if len(done) == len(jobs):
            return 1
        ready = [job for job in jobs if job not in done and needed[job] <= done]
        return sum(ways(done | {job}) for job in ready)

    return ways(frozenset())


TOPOLOGICAL_ORDERS = problem_case(
    Problem(
        id="topological_orders",
        name="Topological orders",
        category="mathematics",
        dimension="combinatorics",
        difficulty="hard",
        description="counts the orders in which jobs with prerequisites can be done",
        question="\n".join(
            [
                f"One worker does the {len(JOBS)} jobs {', '.join(JOBS)}, one after another. "
                "These rules hold:",
                *(f"- {first} is done before {second}" for first, second in RULES),
                "\nIn how many different orders can all jobs be done?",
            ]
        ),
        form="the number of orders",
        solve=lambda: orders(JOBS, RULES),
        # The last rule overlooked.
        mistake=lambda: orders(JOBS, RULES[:-1]),
    )
)

CASES = (TOPOLOGICAL_ORDERS,)
