import re
from itertools import pairwise

import pytest

from bench.cases import CASES
from bench.cases.dijkstra import edge, runner_up_cost, shortest_path
from bench.cases.road_network import EDGES, LEGS, MAX_MARGIN, NODES, draw_network
from bench.evaluators import evaluate
from bench.model.trial import Answer

CANONICAL = CASES["seeded_shortest_path"]
PARAPHRASE = CASES["seeded_shortest_path_paraphrase"]


@pytest.fixture(scope="module")
def networks():
    return [draw_network(seed) for seed in range(1_000)]


def solved_from_text(prompt, pattern):
    """Read the network back from the prompt and solve that: what a model could know."""
    roads = {(left, right): int(cost) for left, right, cost in re.findall(pattern, prompt)}
    names = sorted({name for pair in roads for name in pair})
    weights = {
        edge(names.index(left), names.index(right)): cost for (left, right), cost in roads.items()
    }
    return names, weights


def test_every_network_has_one_best_route_that_is_neither_hasty_nor_the_fewest_roads(networks):
    for network in networks:
        names = sorted({name for road in network.roads for name in road[:2]})
        weights = {edge(names.index(a), names.index(b)): cost for a, b, cost in network.roads}
        assert (len(names), len(weights)) == (NODES, EDGES)
        ends = names.index(network.start), names.index(network.end)
        best = shortest_path(weights, *ends)
        assert best is not None
        assert (best.ways, best.cost) == (1, network.cost)
        assert tuple(names[node] for node in best.nodes) == network.route
        assert len(network.route) - 1 in LEGS
        runner_up = runner_up_cost(weights, best)
        assert runner_up is not None
        assert 0 < runner_up - best.cost <= MAX_MARGIN
        assert network.hasty_cost != network.cost
        fewest = shortest_path(dict.fromkeys(weights, 1), *ends)
        assert fewest is not None
        assert fewest.cost < len(network.route) - 1


def test_costs_are_spread_so_that_none_can_be_guessed(networks):
    costs = [network.cost for network in networks]
    assert max(costs.count(cost) for cost in set(costs)) <= len(costs) * 0.04


@pytest.mark.parametrize("seed", [1, 2, 3, 2**53 - 1])
def test_the_prompt_tells_the_whole_network_in_both_wordings(seed):
    network = draw_network(seed)
    roads = CANONICAL.build(seed).request.messages[0].content
    cables = PARAPHRASE.build(seed).request.messages[0].content
    assert roads is not None
    assert cables is not None
    told = solved_from_text(roads, r"(?m)^(\w+) - (\w+): (\d+) min$")
    assert told == solved_from_text(cables, r"(?m)^cable (\w+) / (\w+), (\d+) ms$")
    names, weights = told
    best = shortest_path(weights, names.index(network.start), names.index(network.end))
    assert best is not None
    assert str(best.cost) == CANONICAL.build(seed).expected == PARAPHRASE.build(seed).expected
    assert f"from {network.start} to {network.end}?" in roads
    assert f"leaves {network.start} and is to reach {network.end}." in cables


def test_the_wordings_share_no_sentence():
    sentences = [
        set(re.split(r"[.?:]\s", str(case.build(1).request.messages[0].content)))
        for case in (CANONICAL, PARAPHRASE)
    ]
    assert sentences[0] & sentences[1] == {"FINAL"}


def test_the_working_in_the_book_adds_up():
    for seed in range(50):
        book = CANONICAL.build(seed).book
        assert book is not None
        route, total = book.content.splitlines()[0].split(": ")
        terms, result = total.split(" = ")
        assert sum(map(int, terms.split(" + "))) == int(result)
        assert len(list(pairwise(route.split(" - ")))) == len(terms.split(" + "))


@pytest.mark.parametrize("case", [CANONICAL, PARAPHRASE], ids=lambda case: case.info.id)
@pytest.mark.parametrize(
    ("form", "passed"),
    [
        pytest.param("FINAL: {cost}", True, id="right"),
        pytest.param("FINAL: 7\nI correct myself.\nFINAL: **{cost}**.", True, id="corrected"),
        pytest.param("$\\boxed{{{cost}}}$", True, id="boxed"),
        pytest.param("FINAL: {hasty}", False, id="hasty"),
        pytest.param("FINAL: {cost}0", False, id="one-digit-more"),
        pytest.param("FINAL: -{cost}", False, id="negative"),
        pytest.param("It takes {cost} minutes.", False, id="not-in-the-form-asked-for"),
        pytest.param("FINAL: {cost}<script>alert(1)</script>", False, id="markup"),
    ],
)
def test_answers_are_judged(case, form, passed):
    network = draw_network(9)
    content = form.format(cost=network.cost, hasty=network.hasty_cost)
    verdict = evaluate(case.build(9), Answer(content=content))
    assert verdict is not None
    assert verdict.passed is passed
