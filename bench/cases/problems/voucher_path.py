"""``shortest_path``: the cheapest journey with a voucher that makes one road free."""

import heapq
from collections.abc import Mapping

from bench.cases.dijkstra import Edge, adjacency, edge, shortest_path
from bench.cases.problem import Problem, problem_case

TOWNS = "PQRSTUVW"
ROADS: Mapping[Edge, int] = {
    (0, 1): 14, (0, 2): 23, (0, 3): 31, (1, 2): 12, (1, 4): 33, (2, 3): 9, (2, 4): 21,
    (2, 5): 38, (3, 5): 26, (3, 6): 43, (4, 5): 10, (4, 7): 41, (5, 6): 13, (5, 7): 29,
    (6, 7): 18,
}  # fmt: skip
START, END = 0, len(TOWNS) - 1


def cost_with_voucher(roads: Mapping[Edge, int], start: int, end: int) -> int | None:
    """Return the least cost when one road may be free; ``None`` if there is no way.

    Dijkstra's algorithm over pairs of a town and whether the voucher was used.
    """
    neighbours = adjacency(roads)
    queue = [(0, start, False)]
    done: set[tuple[int, bool]] = set()
    while queue:
        cost, town, is_used = heapq.heappop(queue)
        if town == end:
            return cost
        if (town, is_used) in done:
            continue
        done.add((town, is_used))
        for other, price in neighbours.get(town, {}).items():
            heapq.heappush(queue, (cost + price, other, is_used))
            if not is_used:
                heapq.heappush(queue, (cost, other, True))
    return None


def voucher_on_the_usual_way(roads: Mapping[Edge, int], start: int, end: int) -> int:
    """Return the cost of using the voucher on the route that is cheapest without one."""
    best = shortest_path(roads, start, end)
    if best is None:
        raise ValueError("there is no way")
    legs = [roads[edge(*pair)] for pair in zip(best.nodes, best.nodes[1:], strict=False)]
    return best.cost - max(legs)


SHORTEST_PATH_WITH_VOUCHER = problem_case(
    Problem(
        id="shortest_path",
        name="Shortest path with a voucher",
        category="reasoning",
        dimension="search",
        difficulty="hard",
        description="finds the cheapest journey when one road of it may be free",
        question="\n".join(
            [
                "Towns are joined by toll roads that can be used in both directions:",
                *(f"- {TOWNS[a]} - {TOWNS[b]}: {toll}" for (a, b), toll in ROADS.items()),
                f"\nYou travel from {TOWNS[START]} to {TOWNS[END]} and hold one voucher that makes "
                "any one road of your journey free. What is the least total toll?",
            ]
        ),
        form="the total toll",
        solve=lambda: cost_with_voucher(ROADS, START, END) or 0,
        mistake=lambda: voucher_on_the_usual_way(ROADS, START, END),
    )
)

CASES = (SHORTEST_PATH_WITH_VOUCHER,)
