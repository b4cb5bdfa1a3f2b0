"""From a description to words, environment and headers for one port."""

import json
from pathlib import Path

import pytest

from orchestrator.config import Sources, resolve
from orchestrator.errors import EntryMissing
from orchestrator.launching import (
    Surroundings,
    Upstream,
    env_file_warnings,
    environment_for,
    fingerprint,
    launch_for,
    read_env_files,
    request_headers,
    token_of,
)
from orchestrator.locate import Located

SIMULATOR = Upstream.at("http://127.0.0.1:9/v1", token="t-token", is_simulated=True)  # noqa: S106


def described(folder, environ=None, **flags):
    return resolve(Sources(flags=flags, environ=environ or {}, cwd=folder))


def near(folder, upstream=SIMULATOR, caller=None, **more):
    return Surroundings(
        caller=caller or {"PATH": "/bin"}, generated=folder / "made", upstream=upstream, **more
    )


def test_an_upstream_is_named_with_or_without_its_version():
    for address in ("http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"):
        found = Upstream.at(address)
        assert (found.url, found.base_url) == ("http://h:1", "http://h:1/v1")


def test_litellm_gets_a_configuration_that_maps_the_asked_models_to_the_simulator(tmp_path):
    config = described(tmp_path, preset="litellm")
    around = near(tmp_path, models=("fast", "p/slow"))
    located = Located(folder=tmp_path, words=("python3", "/v/bin/litellm"), entry=None)
    launch = launch_for(config, located, around)(4321)
    made = (tmp_path / "made/config.yaml").read_text()
    assert '- model_name: "p/slow"\n    litellm_params:\n      model: "openai/p/slow"' in made
    assert made.count('api_base: "http://127.0.0.1:9/v1"') == 2
    assert 'master_key: "sk-test-token"' in made
    assert launch.program.arguments[-1] == "4321"
    assert launch.environment["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert launch.environment["PORT"] == launch.environment["GATEWAY_PORT"] == "4321"
    assert (tmp_path / "made/config.yaml").stat().st_mode & 0o777 == 0o600


def test_portkey_is_pointed_by_headers_and_passes_the_upstreams_token_on(tmp_path):
    config = described(tmp_path, preset="portkey")
    around = near(tmp_path)
    assert request_headers(config, around, 1) == {
        "x-portkey-provider": "openai",
        "x-portkey-custom-host": "http://127.0.0.1:9/v1",
    }
    assert token_of(config, around) == "t-token"


def test_a_gateway_that_goes_its_own_way_is_not_pointed(tmp_path):
    (tmp_path / "gateway-bench.toml").write_text(
        "[gateway]\ncommand = 'x'\n[gateway.point]\nargs = ['--up']\nenv = {U = 'x'}\n"
        "headers = {a = 'b'}\n"
    )
    config = described(tmp_path)
    around = near(tmp_path, Upstream())
    located = Located(folder=tmp_path, words=("x",), entry=None)
    launch = launch_for(config, located, around)(1)
    assert launch.program.arguments == ()
    assert "U" not in launch.environment
    assert request_headers(config, around, 1) == {}
    pointed = launch_for(config, located, near(tmp_path))(1)
    assert pointed.program.arguments == ("--up",)
    assert pointed.environment["U"] == "x"


def test_an_exported_local_key_replaces_the_seeded_token_but_for_the_demo(tmp_path):
    exported = {"LOCAL_LITELLM_API_KEY": "mine", "LOCAL_DEMO_API_KEY": "mine"}
    litellm = described(tmp_path, preset="litellm")
    assert token_of(litellm, near(tmp_path)) == "sk-test-token"
    assert token_of(litellm, near(tmp_path, caller=exported)) == "mine"
    demo = described(tmp_path, preset="demo")
    assert token_of(demo, near(tmp_path, caller=exported)) == "test-token"


def test_the_demo_runs_where_no_module_of_a_worktree_can_be_taken_for_ours(tmp_path):
    config = described(tmp_path, preset="demo")
    around = near(tmp_path, Upstream(), answer_book=Path("/book"))
    located = Located(folder=tmp_path, words=config.command, entry=None)
    launch = launch_for(config, located, around)(7)
    assert launch.folder == tmp_path / "made"
    assert launch.program.module == "bench.simulator"
    assert launch.program.arguments == ("--port", "7", "--book", "/book")


def test_an_env_file_has_to_be_there_unless_it_may_be_missing(tmp_path):
    (tmp_path / "a.env").write_text("A=${B}\nC\n")
    config = described(tmp_path, command="x", env_files=["a.env", "?b.env"])
    assert read_env_files(config) == ({"A": "${B}"},)
    assert environment_for(config, near(tmp_path), 1).values["A"] == "${B}"
    config = described(tmp_path, command="x", env_files=["b.env"])
    with pytest.raises(EntryMissing, match="no env file at"):
        read_env_files(config)


def test_lines_of_an_env_file_that_say_nothing_are_named_without_their_content(tmp_path, caplog):
    (tmp_path / "a.env").write_text('\ufeffA=1\r\nBAD LINE\nexport B="two words"\nC="open\nD=2\n')
    (tmp_path / "b.env").write_text("\n\nA\nB=1\n")
    config = described(tmp_path, command="x", env_files=["a.env", "b.env", "?c.env"])
    assert read_env_files(config) == ({"A": "1", "B": "two words", "D": "2"}, {"B": "1"})
    assert env_file_warnings(config) == (
        f"lines 2, 4 of `{tmp_path}/a.env` are no `NAME=VALUE`, and left out",
        f"line 3 of `{tmp_path}/b.env` is no `NAME=VALUE`, and left out",
    )
    assert caplog.records == []


def test_the_same_gateway_has_the_same_hash_whatever_port_it_got(tmp_path):
    located = Located(folder=tmp_path, words=("x",), entry=None)
    one = described(tmp_path, preset="demo")
    wish = described(tmp_path, {"GATEWAY_PORT": "1000"}, preset="demo")
    assert json.dumps(one.port) == "null"
    assert fingerprint(one, located, ()) == fingerprint(one, located, ("m",))
    assert fingerprint(one, located, ()) != fingerprint(wish, located, ())
    litellm = described(tmp_path, preset="litellm")
    assert fingerprint(litellm, located, ("a",)) != fingerprint(litellm, located, ("b",))
