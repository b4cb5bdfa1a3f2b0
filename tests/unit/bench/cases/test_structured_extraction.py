import json
import re

import pytest

from bench.cases import CASES
from bench.evaluators import evaluate
from bench.model.trial import Answer

CASE = CASES["seeded_structured_extraction"]
KEYS = ["order", "customer", "city", "crates", "weight_kg", "dock", "fragile", "checksum"]
ENTRY = re.compile(
    r"Order (?P<order>QK-\d{4}) for (?P<customer>[^,]+), going to (?P<city>[^:]+): "
    r"(?P<crates>\d+) crates, (?P<weight_kg>\d+) kg in total, leaves from dock (?P<dock>\d+); "
    r"(?P<state>contains parts that break easily|nothing in it can break)\."
)
CORRECTION = re.compile(
    r"Correction to order (?P<order>QK-\d{4}): the (?P<what>number of crates|total weight in kg|"
    r"number of the dock) is (?P<new>\d+), not (?P<old>\d+)\."
)
FIGURES = {
    "number of crates": "crates",
    "total weight in kg": "weight_kg",
    "number of the dock": "dock",
}


def read_by_hand(prompt):
    """Solve the instance from its text alone, as a reader would."""
    wanted = prompt[len("Extract order ") :].split(" ", 1)[0]
    (entry,) = [match for match in ENTRY.finditer(prompt) if match["order"] == wanted]
    (fix,) = [match for match in CORRECTION.finditer(prompt) if match["order"] == wanted]
    figures = {key: int(entry[key]) for key in FIGURES.values()}
    assert figures[FIGURES[fix["what"]]] == int(fix["old"])
    figures[FIGURES[fix["what"]]] = int(fix["new"])
    return {
        "order": wanted,
        "customer": entry["customer"],
        "city": entry["city"],
        **figures,
        "fragile": entry["state"].startswith("contains"),
        "checksum": 3 * figures["crates"] + figures["weight_kg"] + figures["dock"],
    }


def prompt_of(seed):
    return CASE.build(seed).request.messages[0].content


def expected_of(seed):
    return json.loads(str(CASE.build(seed).expected))


def test_every_instance_can_be_read_back_from_its_text():
    for seed in range(1_000):
        expected = expected_of(seed)
        assert expected == read_by_hand(prompt_of(seed))
        assert list(expected) == KEYS


def test_every_note_has_three_orders_of_which_two_are_corrected():
    for seed in range(200):
        numbers = [match["order"] for match in ENTRY.finditer(prompt_of(seed))]
        corrected = [match["order"] for match in CORRECTION.finditer(prompt_of(seed))]
        assert len(set(numbers)) == 3
        assert len(set(corrected)) == 2
        assert len({"".join(sorted(number)) for number in numbers}) == 1


def test_the_wrong_answer_of_the_book_misses_the_correction():
    for seed in range(200):
        book_wrong = CASE.build(seed).book_wrong
        assert book_wrong is not None
        wrong, right = json.loads(book_wrong.content), expected_of(seed)
        assert sum(wrong[key] != right[key] for key in KEYS) == 2
        assert wrong["checksum"] != right["checksum"]


def right_object():
    return expected_of(4)


@pytest.mark.parametrize(
    ("content", "passed", "strict"),
    [
        pytest.param(json.dumps(right_object()), True, True, id="right"),
        pytest.param(f"```json\n{json.dumps(right_object())}\n```", True, False, id="fenced"),
        pytest.param(json.dumps(right_object() | {"checksum": 0}), False, False, id="checksum"),
        pytest.param(
            json.dumps({key: right_object()[key] for key in sorted(KEYS)}),
            False,
            False,
            id="order-of-keys",
        ),
        pytest.param(json.dumps(right_object() | {"crates": "9"}), False, False, id="type"),
        pytest.param(f"Sure!\n{json.dumps(right_object())}", False, False, id="talk"),
        pytest.param('{"order":' * 20_000, False, False, id="deep-nesting"),
    ],
)
def test_answers_are_judged(content, passed, strict):
    verdict = evaluate(CASE.build(4), Answer(content=content))
    assert verdict is not None
    assert (verdict.passed, verdict.metrics["seedPassed"]) == (passed, strict)
