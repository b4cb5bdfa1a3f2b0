import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.evaluators.json_object import judge_json_object
from bench.evaluators.strict_json import NotJson, parse_strict, same_value
from bench.model.trial import Answer

WANTED = {"order": "QK-1", "crates": 40, "fragile": True, "checksum": 7}
RIGHT = json.dumps(WANTED)


def judge(content):
    return judge_json_object(Answer(content=content), expected=WANTED)


@pytest.mark.parametrize(
    ("content", "strict"),
    [
        pytest.param(RIGHT, True, id="plain"),
        pytest.param(f"\n {RIGHT}\n", True, id="space-around"),
        pytest.param(json.dumps(WANTED, indent=2), True, id="indented"),
        pytest.param(RIGHT.replace("40", "40.0"), True, id="number-with-point"),
        pytest.param(f"```json\n{RIGHT}\n```", False, id="json-fence"),
        pytest.param(f"```\n{RIGHT}\n```\n", False, id="bare-fence"),
        pytest.param(f"~~~~ JSON \r\n{RIGHT}\r\n~~~~", False, id="tilde-fence"),
        pytest.param(f"\ufeff{RIGHT}", True, id="byte-order-mark"),
    ],
)
def test_the_right_object_passes_and_the_strict_verdict_is_kept(content, strict):
    verdict = judge(content)
    assert verdict.passed is True
    assert verdict.answer == verdict.expected == RIGHT
    assert verdict.metrics == {"seedPassed": strict, "valuesRight": 4, "valuesExpected": 4}


@pytest.mark.parametrize(
    ("content", "detail", "right"),
    [
        pytest.param(RIGHT.replace("40", "41"), "wrong value: crates", 3, id="value"),
        pytest.param(RIGHT.replace("40", '"40"'), "wrong value: crates", 3, id="text-for-number"),
        pytest.param(RIGHT.replace("true", "1"), "wrong value: fragile", 3, id="one-for-true"),
        pytest.param(RIGHT.replace('"QK-1"', "null"), "wrong value: order", 3, id="null"),
        pytest.param(
            '{"crates": 40, "order": "QK-1", "fragile": true, "checksum": 7}',
            "the keys are in another order than asked for",
            4,
            id="order-of-keys",
        ),
        pytest.param('{"order": "QK-1"}', "missing: crates, fragile, checksum", 1, id="missing"),
        pytest.param(
            RIGHT.replace("}", ', "note": ""}'), "keys that were not asked for: 1", 4, id="extra"
        ),
        pytest.param(f"[{RIGHT}]", "a JSON list instead of an object", 0, id="list"),
        pytest.param('"QK-1"', "a JSON str instead of an object", 0, id="string"),
        pytest.param(
            RIGHT.replace("}", ', "checksum": 7}'),
            "no JSON object: an object names a key twice",
            0,
            id="key-twice",
        ),
        pytest.param(RIGHT.replace("40", "NaN"), "no JSON object: `NaN` is no JSON", 0, id="nan"),
        pytest.param(
            RIGHT.replace("40", "-Infinity"),
            "no JSON object: `-Infinity` is no JSON",
            0,
            id="infinity",
        ),
        pytest.param(RIGHT.replace("40", "1e999"), "wrong value: crates", 3, id="overflow"),
        pytest.param(
            "x" * 70_000,
            "no JSON object: 70000 characters, more than the 65536 that are read",
            0,
            id="too-long",
        ),
    ],
)
def test_another_object_fails_and_says_why(content, detail, right):
    verdict = judge(content)
    assert verdict.passed is False
    assert verdict.detail == detail
    assert verdict.metrics["valuesRight"] == right
    assert verdict.metrics["seedPassed"] is False


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param(f"Here it is:\n{RIGHT}", id="words-before"),
        pytest.param(f"{RIGHT}\nDone.", id="words-after"),
        pytest.param(f"{RIGHT}{RIGHT}", id="twice"),
        pytest.param(RIGHT.replace('"', "'"), id="single-quotes"),
        pytest.param(RIGHT[:-1] + ",}", id="trailing-comma"),
        pytest.param(RIGHT[:-4], id="cut"),
        pytest.param(f"```json\n{RIGHT}", id="open-fence"),
        pytest.param(f"```json\n{RIGHT}\n~~~", id="fence-of-two-kinds"),
        pytest.param(RIGHT.replace("QK", "\x01"), id="control-character"),
        # How deep is too deep depends on the interpreter; what is too deep is never closed either.
        pytest.param("[" * 60_000, id="deep-nesting"),
        pytest.param("9" * 5_000, id="longer-than-an-integer-may-be"),
    ],
)
def test_what_is_no_json_object_fails(content):
    verdict = judge(content)
    assert verdict.passed is False
    assert verdict.detail is not None
    assert verdict.detail.startswith("no JSON object: ")


def test_a_lone_surrogate_can_still_be_written_down():
    verdict = judge(RIGHT.replace("QK", "\ud800"))
    assert verdict.answer is not None
    verdict.answer.encode()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=40)
@given(json_values)
def test_a_value_survives_writing_and_strict_reading(value):
    assert same_value(parse_strict(json.dumps(value)), value)


@settings(max_examples=40)
@given(json_values, json_values)
def test_equality_of_values_is_symmetric(left, right):
    assert same_value(left, right) == same_value(right, left)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [(True, 1, False), (0, False, False), (3.0, 3, True), ([1], [True], False), ([1], [1, 2], False),
     ({"a": 1}, {"b": 1}, False), ({"a": [1]}, {"a": [1]}, True), ({}, [], False), ([], "", False)],
)  # fmt: skip
def test_true_is_not_one_but_three_is_three(left, right, same):
    assert same_value(left, right) is same


def test_strict_reading_names_the_place_of_a_fault():
    with pytest.raises(NotJson, match="line 1 column 2"):
        parse_strict("{]")
