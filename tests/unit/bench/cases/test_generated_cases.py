"""A thousand seeds of each generated case: read back from the prompt, solved another way, pinned."""

import hashlib
import json
import re
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from bench.cases import CASES
from bench.cases.text_hash import _canonical
from tests.case_digests import SEEDS as SEED_COUNT
from tests.case_digests import digest, seeded_ids

SEEDS = range(SEED_COUNT)

# Over all thousand instances. A changed hash means that older results can't be compared.
# `tests.case_digests` writes it; `scripts/test-real` compares it on another Python and machine.
PINNED = json.loads((Path(__file__).parents[3] / "golden" / "case-digests.json").read_bytes())


def bellman_ford(roads: list[tuple[str, str, int]], start: str, end: str) -> int:
    costs = {start: 0}
    for _ in roads:
        for left, right, cost in roads:
            for one, other in ((left, right), (right, left)):
                if one in costs and costs[one] + cost < costs.get(other, 10**9):
                    costs[other] = costs[one] + cost
    return costs[end]


def best_route(pattern: str, ends: str) -> Callable[[str], str]:
    def solve(prompt: str) -> str:
        roads = [(a, b, int(cost)) for a, b, cost in re.findall(pattern, prompt)]
        found = re.search(ends, prompt)
        assert found is not None
        return str(bellman_ford(roads, found[1], found[2]))

    return solve


def order_as_json(prompt: str) -> str:
    asked = re.search(r"Extract order (\S+) ", prompt)
    assert asked is not None
    number = re.escape(asked[1])
    entry = re.search(
        rf"Order {number} for (.+), going to (.+): (\d+) crates, (\d+) kg in total, leaves from "
        r"dock (\d+); (.+)\.",
        prompt,
    )
    assert entry is not None
    figures = {"crates": int(entry[3]), "weight": int(entry[4]), "dock": int(entry[5])}
    for words, value in re.findall(
        rf"Correction to order {number}: the (.+) is (\d+), not", prompt
    ):
        (name,) = [name for name in figures if name in words]
        figures[name] = int(value)
    crates, weight, dock = figures.values()
    fragile = str("break easily" in entry[6]).lower()
    return (
        f'{{"order": "{asked[1]}", "customer": "{entry[1]}", "city": "{entry[2]}", '
        f'"crates": {crates}, "weight_kg": {weight}, "dock": {dock}, "fragile": {fragile}, '
        f'"checksum": {3 * crates + weight + dock}}}'
    )


def ledger_entry(prompt: str) -> str:
    asked = re.search(r"for invoice (\S+) of (.+)\?", prompt)
    assert asked is not None
    rows = re.findall(r"\| (INV-\d{4}) \| ([\w ]+) \| (\d+)", prompt)
    amounts = [amount for invoice, _, amount in rows if invoice == asked[1]]
    assert len(amounts) <= 1
    return amounts[0] if amounts else "UNKNOWN"


def sealed_sum(prompt: str) -> str:
    seal = re.search(r"bear the seal (\w+)\.", prompt)
    assert seal is not None
    assert prompt.count("\nEntry ") == 240
    sealed = [line for line in prompt.splitlines() if line.endswith(f"seal {seal[1]}.")]
    crates = re.findall(r"took in (\d+) crates", "\n".join(sealed))
    assert len(crates) == 3
    return str(sum(map(int, crates)))


def fewest_hours(prompt: str) -> str:
    rows = [
        [int(n) for n in row.split(", ")] for row in re.findall(r"(?m)^\w+: ([\d, ]+)$", prompt)
    ]
    assert [len(row) for row in rows] == [5] * 5
    sums = sorted(sum(rows[at][to] for at, to in enumerate(order)) for order in ORDERS)
    assert sums[0] < sums[1]
    return str(sums[0])


ORDERS = list(permutations(range(5)))
SOLVERS: dict[str, Callable[[str], str]] = {
    "seeded_shortest_path": best_route(r"(?m)^(\w+) - (\w+): (\d+) min$", r"from (\w+) to (\w+)\?"),
    "seeded_shortest_path_paraphrase": best_route(
        r"cable (\w+) / (\w+), (\d+) ms", r"leaves (\w+) and is to reach (\w+)\."
    ),
    "seeded_shortest_path_distractor": best_route(
        r"(?m)^(\w+) - (\w+): (\d+) min, \d+ km", r"gets from (\w+) to (\w+)\?"
    ),
    "seeded_structured_extraction": order_as_json,
    "seeded_grounded_known": ledger_entry,
    "seeded_grounded_unknown": ledger_entry,
    "seeded_long_context_needles": sealed_sum,
    "reasoning_effort_high": fewest_hours,
}
SAME_INSTANCE = {
    "reasoning_effort_none": "reasoning_effort_high",
    "reasoning_effort_low": "reasoning_effort_high",
}


def test_every_generated_case_is_solved_here():
    generated = {
        case_id
        for case_id, case in CASES.items()
        if case.info.kind == "quality" and case.build(1).request != case.build(2).request
    }
    assert generated == SOLVERS.keys() | SAME_INSTANCE.keys()
    assert SOLVERS.keys() == {name for names in TOGETHER for name in names}
    assert PINNED.keys() == SOLVERS.keys() | SAME_INSTANCE.keys() == set(seeded_ids())


# Wordings of one instance go together, so that it is drawn once.
TOGETHER = [
    ["seeded_shortest_path", "seeded_shortest_path_paraphrase", "seeded_shortest_path_distractor"],
    ["seeded_structured_extraction"],
    ["seeded_grounded_known", "seeded_grounded_unknown"],
    ["seeded_long_context_needles"],
    ["reasoning_effort_high"],
]


@pytest.mark.parametrize("case_ids", TOGETHER, ids=lambda ids: ids[0])
def test_a_thousand_seeds_are_solvable_different_and_the_same_everywhere(case_ids):
    digests = {case_id: hashlib.sha256() for case_id in case_ids}
    prompts: dict[str, set[str]] = {case_id: set() for case_id in case_ids}
    for seed in SEEDS:
        for case_id in case_ids:
            instance = CASES[case_id].build(seed)
            (message,) = instance.request.messages
            assert message.content is not None
            assert SOLVERS[case_id](message.content) == instance.expected
            assert instance.book_wrong is not None
            assert f"FINAL: {instance.expected}" != instance.book_wrong.content.splitlines()[-1]
            prompts[case_id].add(message.content)
            digests[case_id].update(_canonical(instance))
    assert {len(texts) for texts in prompts.values()} == {len(SEEDS)}
    assert {name: digest.hexdigest() for name, digest in digests.items()} == {
        name: PINNED[name] for name in case_ids
    }


@pytest.mark.parametrize("case_id", SAME_INSTANCE)
def test_the_other_efforts_are_pinned_too(case_id):
    assert digest(case_id) == PINNED[case_id]


def test_the_efforts_ask_one_instance():
    for case_id, other_id in SAME_INSTANCE.items():
        case, other = CASES[case_id], CASES[other_id]
        assert case.info.seed_group == other.info.seed_group is not None
        for seed in range(20):
            mine, theirs = case.build(seed), other.build(seed)
            assert mine.request.messages == theirs.request.messages
            assert mine.expected == theirs.expected
            assert mine.request.reasoning_effort != theirs.request.reasoning_effort


def test_the_three_wordings_of_a_network_have_one_answer():
    wordings = [CASES[case_id] for case_id in SOLVERS if case_id.startswith("seeded_shortest")]
    assert len(wordings) == 3
    for seed in range(20):
        assert len({case.build(seed).expected for case in wordings}) == 1


def test_answers_can_not_be_guessed_by_the_commonest():
    for case_id in ("seeded_long_context_needles", "reasoning_effort_high"):
        answers = [CASES[case_id].build(seed).expected for seed in range(100)]
        assert max(map(answers.count, set(answers))) <= 8
