"""The presets are descriptions like any other, and free of contradictions."""

import pytest

from orchestrator.config import Sources, resolve
from orchestrator.presets import preset_names, read_preset
from orchestrator.settings import KEYS
from orchestrator.sources import flattened


def test_the_four_gateways_of_the_handbook_are_there():
    assert preset_names() == ("demo", "litellm", "llmgateway", "portkey")


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_has_known_keys_only_and_resolves(name, tmp_path):
    assert set(flattened(read_preset(name))) <= set(KEYS)
    config = resolve(Sources(flags={"preset": name}, environ={}, cwd=tmp_path))
    assert config.about
    assert config.api_key_env is not None
    assert config.api_key_env.startswith("LOCAL_")
    assert config.untrusted == {}


@pytest.mark.parametrize(
    ("name", "upstream"),
    [
        ("demo", "embedded"),
        ("litellm", "simulated"),
        ("portkey", "simulated"),
        ("llmgateway", "own"),
    ],
)
def test_only_llmgateway_asks_what_may_cost_money(name, upstream, tmp_path):
    config = resolve(Sources(flags={"preset": name}, environ={}, cwd=tmp_path))
    assert config.upstream == upstream
    assert config.upstream_free is None
