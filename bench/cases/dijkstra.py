"""Solver for shortest paths: costs from one node, and whether the best path is the only one."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

Edge = tuple[int, int]
"""Two nodes, the smaller first; edges run both ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortestPath:
    """The cheapest way between two nodes."""

    cost: int
    nodes: tuple[int, ...]
    """One cheapest path, ends included."""
    ways: int
    """How many different paths have this cost."""


def shortest_path(weights: Mapping[Edge, int], start: int, end: int) -> ShortestPath | None:
    """Return the cheapest path by Dijkstra's algorithm; ``None`` if there is none.

    Args:
        weights: Cost of each edge, above 0.
        start: Node to begin at.
        end: Node to reach; another one than ``start``.
    """
    neighbours = adjacency(weights)
    cost, ways, came_from = {start: 0}, {start: 1}, {start: start}
    done: set[int] = set()
    queue = [(0, start)]
    while queue:
        so_far, node = heapq.heappop(queue)
        if node in done:
            continue
        done.add(node)
        for other, weight in neighbours.get(node, {}).items():
            through = so_far + weight
            known = cost.get(other)
            if known is None or through < known:
                cost[other], ways[other], came_from[other] = through, ways[node], node
                heapq.heappush(queue, (through, other))
            elif through == known:
                ways[other] += ways[node]
    if end not in done:
        return None
    return ShortestPath(cost=cost[end], nodes=_walk_back(came_from, end), ways=ways[end])


def runner_up_cost(weights: Mapping[Edge, int], best: ShortestPath) -> int | None:
    """Return the cost of the cheapest path that differs from ``best``; ``None`` if none does.

    Any other simple path avoids at least one edge of the best one, so it is the cheapest of the
    best paths that remain when each of these edges in turn is taken away.
    """
    costs = []
    for left, right in zip(best.nodes, best.nodes[1:], strict=False):
        closed = edge(left, right)
        rest = {link: weight for link, weight in weights.items() if link != closed}
        detour = shortest_path(rest, best.nodes[0], best.nodes[-1])
        if detour is not None:
            costs.append(detour.cost)
    return min(costs, default=None)


def nearest_first_cost(weights: Mapping[Edge, int], start: int, end: int) -> int | None:
    """Return what a walk costs that always takes the cheapest road to a new node.

    Returns:
        The cost of this hasty answer; ``None`` if the walk ends in a dead end.
    """
    neighbours = adjacency(weights)
    seen, node, cost = {start}, start, 0
    while node != end:
        ahead = [(weight, other) for other, weight in neighbours[node].items() if other not in seen]
        if not ahead:
            return None
        weight, node = min(ahead)
        seen.add(node)
        cost += weight
    return cost


def adjacency(weights: Mapping[Edge, int]) -> dict[int, dict[int, int]]:
    """Return, for each node, the cost to each neighbour."""
    neighbours: dict[int, dict[int, int]] = {}
    for (left, right), weight in weights.items():
        neighbours.setdefault(left, {})[right] = weight
        neighbours.setdefault(right, {})[left] = weight
    return neighbours


def edge(left: int, right: int) -> Edge:
    """Return the edge between two nodes."""
    return (left, right) if left < right else (right, left)


def _walk_back(came_from: Mapping[int, int], end: int) -> tuple[int, ...]:
    nodes = [end]
    while came_from[nodes[-1]] != nodes[-1]:
        nodes.append(came_from[nodes[-1]])
    return tuple(reversed(nodes))
