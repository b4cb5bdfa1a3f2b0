"""Small road networks in which the cheapest route is the only one, and not the obvious one.

Networks are drawn until one qualifies: 1 in 4 does, over 1,000 seeds the 27th at the latest.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from bench.cases.dijkstra import (
    Edge,
    ShortestPath,
    adjacency,
    nearest_first_cost,
    runner_up_cost,
    shortest_path,
)
from bench.seeds import SeededStream

NODES = 9
EDGES = 15
MAX_REACH = 3
"""Roads join places at most this far apart in the hidden row, so good routes have several legs."""
LEGS = (4, 5)
MAX_MARGIN = 9
"""How much the second best route may cost above the best: estimating does not find the best."""

_NAMES = (
    "Arvell", "Brockton", "Cald", "Dunmere", "Eskby", "Farrow", "Gildon", "Hexley", "Ingram",
    "Jorvik", "Kelso", "Lorne", "Marden", "Norwick", "Orrin", "Pendle", "Quarry", "Rushden",
    "Selby", "Tarn", "Ulver", "Varley", "Wexcombe", "Yarrow",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RoadNetwork:
    """One instance, named and in the order in which it is told."""

    roads: tuple[tuple[str, str, int], ...]
    """Two places and the cost between them, the same both ways."""
    start: str
    end: str
    route: tuple[str, ...]
    """The only cheapest route, ends included."""
    cost: int
    hasty_cost: int
    """What a walk costs that always takes the cheapest road next; never ``cost``."""


@lru_cache(maxsize=8)
def draw_network(seed: int) -> RoadNetwork:
    """Return the network of ``seed``."""
    stream = SeededStream(seed, label="road network")
    weights, best, hasty = next(_qualified(stream))
    names = stream.sample(_NAMES, NODES)
    roads = [(names[left], names[right], weight) for (left, right), weight in weights.items()]
    told = [
        road if stream.below(2) else (road[1], road[0], road[2]) for road in stream.shuffled(roads)
    ]
    return RoadNetwork(
        roads=tuple(told),
        start=names[0],
        end=names[-1],
        route=tuple(names[node] for node in best.nodes),
        cost=best.cost,
        hasty_cost=hasty,
    )


def _qualified(stream: SeededStream) -> Iterator[tuple[Mapping[Edge, int], ShortestPath, int]]:
    while True:
        weights = _draw_weights(stream)
        best = shortest_path(weights, 0, NODES - 1)
        if best is None or not _is_hard(weights, best):
            continue
        hasty = nearest_first_cost(weights, 0, NODES - 1)
        if hasty is not None and hasty != best.cost:
            yield weights, best, hasty


def _draw_weights(stream: SeededStream) -> dict[Edge, int]:
    """Return roads between places near each other in a hidden row; far ones cost more."""
    near = [
        (left, right)
        for left in range(NODES)
        for right in range(left + 1, min(left + MAX_REACH, NODES - 1) + 1)
    ]
    return {
        (left, right): stream.between(11, 32) * (right - left)
        for left, right in sorted(stream.sample(near, EDGES))
    }


def _is_hard(weights: Mapping[Edge, int], best: ShortestPath) -> bool:
    """Return whether the best route is unique, long, closely won, and not the one of fewest roads."""
    legs = len(best.nodes) - 1
    if len(adjacency(weights)) < NODES or best.ways != 1 or legs not in LEGS:
        return False
    fewest = shortest_path(dict.fromkeys(weights, 1), best.nodes[0], best.nodes[-1])
    runner_up = runner_up_cost(weights, best)
    return (
        fewest is not None
        and fewest.cost < legs
        and runner_up is not None
        and runner_up - best.cost <= MAX_MARGIN
    )
