from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.cases.dijkstra import (
    adjacency,
    edge,
    nearest_first_cost,
    runner_up_cost,
    shortest_path,
)

graphs = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 5))
    .filter(lambda pair: pair[0] != pair[1])
    .map(lambda pair: edge(*pair)),
    st.integers(1, 9),
    max_size=12,
)


def all_path_costs(weights, start, end):
    """Walk every simple path: slow, and nothing like Dijkstra's algorithm."""
    neighbours = adjacency(weights)

    def walk(node, seen):
        if node == end:
            yield 0
            return
        for other, weight in neighbours.get(node, {}).items():
            if other not in seen:
                yield from (weight + rest for rest in walk(other, seen | {other}))

    return sorted(walk(start, {start}))


@settings(max_examples=40)
@given(graphs)
def test_the_solver_agrees_with_walking_every_path(weights):
    costs = all_path_costs(weights, 0, 5)
    best = shortest_path(weights, 0, 5)
    if best is None:
        assert costs == []
        return
    assert best.cost == costs[0]
    assert best.ways == costs.count(costs[0])
    assert sum(weights[edge(*pair)] for pair in pairwise(best.nodes)) == best.cost
    assert (best.nodes[0], best.nodes[-1]) == (0, 5)
    assert runner_up_cost(weights, best) == (costs[1] if len(costs) > 1 else None)


@pytest.mark.parametrize(
    ("weights", "cost"),
    [
        pytest.param({(0, 1): 1, (1, 2): 9, (0, 2): 5}, 10, id="falls-for-the-near-road"),
        pytest.param({(0, 1): 1, (0, 2): 5}, None, id="dead-end"),
    ],
)
def test_the_hasty_walk_takes_the_nearest_place_each_time(weights, cost):
    assert nearest_first_cost(weights, 0, 2) == cost
