"""Filling places."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.templates import fill, fill_per_model, unknown_places


def test_known_places_are_filled_and_others_stay():
    assert fill("a {port} {other} {PORT} {}", {"port": "1"}) == "a 1 {other} {PORT} {}"


def test_json_in_a_template_passes_through():
    text = '{"a": {"b": [1, 2]}}'
    assert fill(text, {"a": "x"}) == text


@given(st.text())
def test_a_json_place_reads_back_as_the_value(value):
    assert json.loads(fill("{model_json}", {"model": value})) == value


@given(st.text())
def test_what_was_filled_in_is_not_filled_again(value):
    assert fill("{token}", {"token": value, "port": "1"}) == value


@pytest.mark.parametrize(
    ("text", "extra", "unknown"),
    [
        pytest.param("--port={port} {url}", (), (), id="all known"),
        pytest.param("{prot} {x}", (), ("prot", "x"), id="in order"),
        pytest.param("{token_json}", (), (), id="the JSON form of a known one"),
        pytest.param("{model}", ("model",), (), id="known here only"),
    ],
)
def test_unknown_places_are_listed(text, extra, unknown):
    assert unknown_places(text, extra=extra) == unknown


def test_one_block_per_model():
    made = fill_per_model(
        "\nlist:\n{each_model}\nkey: {token_json}\n",
        '\n- {model_json} at "{openai_model}"\n',
        ["a", "b/c"],
        {"token": "t"},
    )
    assert made == 'list:\n- "a" at "openai/a"\n- "b/c" at "openai/b/c"\nkey: "t"\n'
