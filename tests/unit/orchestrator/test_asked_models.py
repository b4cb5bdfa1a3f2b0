"""Which names a generated configuration has to know."""

import pytest

from orchestrator.cli.run import asked_models


@pytest.mark.parametrize(
    ("models", "mappings", "asked"),
    [
        pytest.param(("m",), (), ("m",), id="plain"),
        pytest.param(("m",), ("p,q:eu",), ("m", "p/m", "q/m:eu"), id="pinned"),
        pytest.param(("m",), ("*", "p:*"), ("m",), id="patterns name nothing"),
        pytest.param(("m", "n", "m"), ("p",), ("m", "n", "p/m", "p/n"), id="each once"),
    ],
)
def test_plain_and_pinned_names_are_asked_for(models, mappings, asked):
    assert asked_models(models, mappings) == asked
