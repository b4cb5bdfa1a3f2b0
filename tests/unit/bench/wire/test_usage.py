from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model.trial import Usage
from bench.wire.usage import merge_usage, read_usage


def _counts(usage: Usage | None) -> tuple[int | None, ...] | None:
    if usage is None:
        return None
    return (
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.reasoning_tokens,
        usage.visible_completion_tokens,
        usage.cached_prompt_tokens,
    )


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param({"prompt_tokens": 7, "completion_tokens": 5}, (7, 5, None, 5, None), id="plain"),
        pytest.param(
            {
                "prompt_tokens": 7,
                "completion_tokens": 5,
                "completion_tokens_details": {"reasoning_tokens": 2},
                "prompt_tokens_details": {"cached_tokens": 4},
            },
            (7, 5, 2, 3, 4),
            id="details",
        ),
        pytest.param(
            {"prompt_tokens": 7, "completion_tokens": 5, "reasoning_tokens": 9},
            (7, 5, 9, 0, None),
            id="visible is never negative",
        ),
        pytest.param(
            {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 312,
             "completion_tokens_details": {"reasoning_tokens": 300}},
            (7, 305, 300, 5, None),
            id="reasoning counted beside the completion",
        ),
        pytest.param(
            {"prompt_tokens": 7, "completion_tokens": 5, "prompt_cache_hit_tokens": 3},
            (7, 5, None, 5, 3),
            id="another name for cached",
        ),
        pytest.param(
            {"prompt_tokens": 69.25, "completion_tokens": 112.5}, (69, 113, None, 113, None),
            id="estimates with fractions",
        ),
        pytest.param({"completion_tokens": 5}, (None, 5, None, 5, None), id="completion only"),
        pytest.param({"prompt_tokens": 5}, (5, None, None, None, None), id="prompt only"),
        pytest.param({"tensorzero_cost": None}, None, id="no counts"),
        pytest.param({"prompt_tokens": "7", "completion_tokens": True}, None, id="no numbers"),
        pytest.param({"prompt_tokens": -1, "completion_tokens": None}, None, id="negative"),
        pytest.param(
            {"prompt_tokens": 1, "completion_tokens_details": [], "prompt_tokens_details": None},
            (1, None, None, None, None),
            id="odd details",
        ),
    ],
)  # fmt: skip
def test_counts_are_normalised(
    raw: dict[str, Any], expected: tuple[int | None, ...] | None
) -> None:
    usage = read_usage(raw)
    assert _counts(usage) == expected
    assert usage is None or usage.raw == raw


@pytest.mark.parametrize(
    ("raw", "cost"),
    [
        ({"cost": 0.5}, 0.5),
        ({"cost_usd": 0.5}, 0.5),
        ({"total_cost": 2}, 2.0),
        ({"cost_usd_total": 0.5}, 0.5),
        ({"cost": 0}, None),
        ({"cost": -1}, None),
        ({"cost": "0.5"}, None),
        ({"cost": {"total": 1}}, None),
        ({"cost": float("inf")}, None),
    ],
)
def test_the_gateways_own_cost_is_kept_and_zero_is_unknown(
    raw: dict[str, Any], cost: float | None
) -> None:
    usage = read_usage({"prompt_tokens": 1, **raw})
    assert usage is not None
    assert usage.cost_usd == cost


_FULL = {"prompt_tokens": 7, "completion_tokens": 5, "completion_tokens_details": {"a": 1}}
_BARE = {"prompt_tokens": 7, "completion_tokens": 5, "completion_tokens_details": None}


def test_the_same_counts_told_twice_are_one_usage_with_all_details() -> None:
    assert merge_usage(_FULL, _BARE) == _FULL
    assert merge_usage(_BARE, _FULL) == _FULL


def test_growing_counts_replace_each_other() -> None:
    later = {"prompt_tokens": 7, "completion_tokens": 9}
    assert merge_usage(_FULL, later) == later


def test_an_object_without_counts_does_not_hide_one_with_them() -> None:
    assert merge_usage(_FULL, {"cost": 1}) == {**_FULL, "cost": 1}
    assert merge_usage({"cost": 1}, _FULL) == {**_FULL, "cost": 1}


def test_the_first_object_stands_as_it_is() -> None:
    assert merge_usage(None, _BARE) is _BARE


@given(
    st.dictionaries(
        st.sampled_from(["prompt_tokens", "completion_tokens", "cost", "total_tokens"]),
        st.none() | st.integers(0, 9),
    )
)
def test_told_twice_is_told_once(raw: dict[str, Any]) -> None:
    assert read_usage(merge_usage(raw, raw)) == read_usage(raw)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(
            {
                "prompt_tokens": 16,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 9, "cache_write_tokens": 4},
            },
            id="inside",
        ),
        pytest.param(
            {
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 9},
                "cache_creation_input_tokens": 4,
            },
            id="beside, for there are more of them",
        ),
    ],
)
def test_cached_tokens_are_counted_inside_the_prompt_s(raw):
    usage = read_usage(raw)
    assert usage is not None
    assert usage.prompt_tokens == 16
    assert (usage.cached_prompt_tokens, usage.cache_write_tokens) == (9, 4)


def test_a_total_tells_cached_tokens_that_are_counted_beside_the_prompt_s():
    beside = {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "total_tokens": 16,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    usage = read_usage(beside)
    assert usage is not None
    assert (usage.prompt_tokens, usage.cached_prompt_tokens) == (14, 4)
    inside = read_usage({**beside, "total_tokens": 12})
    assert inside is not None
    assert inside.prompt_tokens == 10


@pytest.mark.parametrize(
    "beside",
    [
        {"cache_creation": {"ephemeral_1h_input_tokens": 3}},
        {
            "prompt_tokens_details": {
                "cache_creation_token_details": {"ephemeral_1h_input_tokens": 3}
            }
        },
    ],
    ids=["as Anthropic says it", "as LiteLLM passes it on"],
)
def test_what_is_written_for_an_hour_is_told_apart(beside):
    raw = {"prompt_tokens": 9, "completion_tokens": 2, "cache_creation_input_tokens": 4}
    usage = read_usage({**raw, **beside})
    assert usage is not None
    assert (usage.cache_write_tokens, usage.cache_write_1h_tokens) == (4, 3)
    for nothing in ({}, {"cache_creation": None}, {"cache_creation": {"x": 1}}):
        usage = read_usage({**raw, **nothing})
        assert usage is not None
        assert usage.cache_write_1h_tokens is None
