"""Precedence, origins and faults of a gateway's description."""

from pathlib import Path

import pytest

from orchestrator.config import Sources, resolve
from orchestrator.faults import ConfigFaults, UnknownPreset
from orchestrator.settings import EnvFile


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def described(cwd: Path, environ=None, use_files=True, **flags):
    dotted = {key.replace("__", "."): value for key, value in flags.items()}
    return resolve(Sources(flags=dotted, environ=environ or {}, cwd=cwd, use_files=use_files))


@pytest.fixture
def worktree(tmp_path):
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_later_origins_win_one_after_another(worktree):
    toml = write(
        worktree / "gateway-bench.toml",
        '[gateway]\npreset = "llmgateway"\nready_timeout = "1s"\ngrace = "1s"\nport = 1001\n'
        "[gateway.health]\nstatus = 201\n",
    )
    write(worktree / ".env", "GATEWAY_GRACE=2s\nGATEWAY_PORT=1002\nGATEWAY_HEALTH_STATUS=202\n")
    config = described(
        worktree, {"GATEWAY_PORT": "1003", "GATEWAY_HEALTH_STATUS": "203"}, health__status="204"
    )
    told = {
        key: (config.values[key], config.origins[key])
        for key in ("port_env", "health.field", "ready_timeout", "grace", "port", "health.status")
    }
    assert told == {
        "port_env": (("PORT", "GATEWAY_PORT"), "default"),
        "health.field": ("health.status", "preset llmgateway"),
        "ready_timeout": (1000.0, f"{toml}: ready_timeout"),
        "grace": (2000.0, ".env GATEWAY_GRACE"),
        "port": (1003, "env GATEWAY_PORT"),
        "health.status": (204, "flag"),
    }


@pytest.mark.parametrize(
    ("environ", "flags", "fixed"),
    [
        pytest.param({}, {}, False, id="from .env it is a first wish"),
        pytest.param({"GATEWAY_PORT": "1003"}, {}, True, id="exported"),
        pytest.param({}, {"port": "1004"}, True, id="typed"),
    ],
)
def test_only_a_flag_or_an_exported_variable_fixes_a_port(worktree, environ, flags, fixed):
    write(worktree / ".env", "GATEWAY_PORT=1002\n")
    config = described(worktree, environ, preset="demo", **flags)
    assert config.port is not None
    assert config.is_port_fixed is fixed


def test_all_faults_come_in_one_message_with_near_matches(worktree):
    write(
        worktree / "gateway-bench.toml",
        '[gatway]\nx = 1\n[gateway]\nprot = 4001\ngrace = "soon"\n[gateway.health]\npaht = "/"\n',
    )
    with pytest.raises(ConfigFaults) as fault:
        described(worktree, {"GATEWAY_PORT": "http"})
    told = fault.value.message
    assert fault.value.exit_code == 2
    assert told.startswith("5 settings are wrong:")
    for part in (
        "`[gatway]`",
        "did you mean `[gateway]`?",
        "`prot`",
        "did you mean `port`?",
        "`grace`",
        "is 'soon', must be a duration",
        "`health.paht`",
        "did you mean `health.path`?",
        "`port` (env GATEWAY_PORT) is 'http', must be a port from 1 to 65535",
    ):
        assert part in told


def test_an_unknown_preset_is_told_with_near_matches(tmp_path):
    with pytest.raises(UnknownPreset) as fault:
        described(tmp_path, preset="litelm")
    assert fault.value.message == "no preset `litelm` (flag); did you mean `litellm`?"
    assert fault.value.hint == "presets: demo, litellm, llmgateway, portkey"
    assert fault.value.exit_code == 2


def test_a_file_that_is_no_toml_is_named(worktree):
    path = write(worktree / "gateway-bench.toml", "[gateway\n")
    with pytest.raises(ConfigFaults) as fault:
        described(worktree)
    assert f"`{path}` is no TOML" in fault.value.message


def test_the_nearest_file_upward_describes_the_gateway(worktree):
    write(worktree / "gateway-bench.toml", '[gateway]\nentry = "far.js"\n')
    near = write(worktree / "apps/gateway/gateway-bench.toml", '[gateway]\nentry = "near.js"\n')
    config = described(near.parent)
    assert config.entry == near.parent / "near.js"
    assert config.dir == near.parent


def test_a_pyproject_counts_only_with_our_table(worktree):
    write(worktree / "sub/pyproject.toml", "[project]\nname = 'x'\n")
    up = write(
        worktree / "pyproject.toml", "[tool.gateway-bench.gateway]\ncommand = 'serve --p {port}'\n"
    )
    config = described(worktree / "sub")
    assert config.command == ("serve", "--p", "{port}")
    assert config.origins["command"] == f"{up}: command"


def test_hyphens_and_underscores_are_the_same_key(worktree):
    write(worktree / "gateway-bench.toml", '[gateway]\nentry-mode = "direct"\n')
    assert described(worktree).entry_mode == "direct"


def test_tables_of_variables_add_up(worktree):
    write(
        worktree / "gateway-bench.toml",
        '[gateway]\npreset = "llmgateway"\n[gateway.env]\nLOG_LEVEL = "debug"\n',
    )
    config = described(worktree)
    assert config.env == {"NODE_ENV": "production", "LOG_LEVEL": "debug"}
    assert config.origins["env"].startswith("preset llmgateway + ")


def test_a_file_for_another_gateway_gives_way_to_a_typed_preset(worktree):
    path = write(worktree / "gateway-bench.toml", '[gateway]\nentry = "serve.js"\ngrace = "1s"\n')
    config = described(worktree, preset="demo")
    assert config.entry is None
    assert config.grace_ms == 10_000
    assert config.file is None
    assert config.notes[-1] == f"`{path}` describes another gateway than preset `demo`: not used"


def test_a_file_completes_a_typed_preset_that_has_an_entry(worktree):
    write(worktree / "gateway-bench.toml", '[gateway]\nentry = "build/x.js"\n')
    config = described(worktree, preset="llmgateway")
    assert config.entry == worktree / "build/x.js"
    assert config.health.field == "health.status"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param(
            {"preset": "demo", "entry": "x.js"},
            {"command": (), "args": ()},
            id="an entry replaces a whole command",
        ),
        pytest.param(
            {"preset": "portkey", "entry": "x.js"},
            {"command": ("node",), "args": ("--port={port}", "--headless")},
            id="an entry keeps the interpreter of another entry",
        ),
        pytest.param(
            {"preset": "portkey", "command": "serve now"},
            {"command": ("serve", "now"), "entry": None, "args": ()},
            id="a command alone is the whole command",
        ),
        pytest.param(
            {"preset": "litellm", "command": "/v/bin/litellm"},
            {"command": ("/v/bin/litellm",), "executable": None},
            id="a command names the executable of a preset that looks for one",
        ),
    ],
)
def test_how_a_gateway_starts_is_replaced_as_a_whole(tmp_path, flags, expected):
    config = described(tmp_path, **flags)
    assert {key: getattr(config, key) for key in expected} == expected
    assert ("--config" in config.args) == (flags["preset"] == "litellm")


def test_a_command_over_litellm_keeps_its_arguments(tmp_path):
    config = described(tmp_path, preset="litellm", command="/v/bin/litellm")
    assert config.args[:2] == ("--config", "{generated}/config.yaml")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        pytest.param(
            {"preset": "llmgateway", "upstream": "simulated"},
            "nothing says how this gateway is pointed at it",
            id="no way to point it",
        ),
        pytest.param(
            {"preset": "demo", "upstream": "https://api.example"},
            "the demo gateway has none",
            id="the demo has no upstream",
        ),
        pytest.param(
            {"command": "x", "upstream": "embedded"},
            "only preset `demo` is that",
            id="embedded is not for others",
        ),
    ],
)
def test_an_upstream_that_can_not_be_had_is_a_fault(tmp_path, flags, told):
    with pytest.raises(ConfigFaults) as fault:
        described(tmp_path, **flags)
    assert told in fault.value.message


def test_a_file_can_say_how_a_gateway_is_pointed(worktree):
    write(
        worktree / "gateway-bench.toml",
        '[gateway]\npreset = "llmgateway"\nupstream = "simulated"\n'
        '[gateway.point.env]\nUPSTREAM = "{upstream_base_url}"\n',
    )
    assert described(worktree).point.env == {"UPSTREAM": "{upstream_base_url}"}


def test_a_file_may_not_name_the_production_key(worktree):
    write(
        worktree / "gateway-bench.toml",
        '[gateway]\npreset = "demo"\napi_key_env = "LLM_GATEWAY_API_KEY"\n',
    )
    with pytest.raises(ConfigFaults, match="only `--api-key-env` may do that"):
        described(worktree)
    typed = described(worktree, api_key_env="LLM_GATEWAY_API_KEY")
    assert typed.api_key_env == "LLM_GATEWAY_API_KEY"


def test_env_files_count_from_where_they_were_written(worktree):
    write(worktree / "gateway-bench.toml", '[gateway]\nentry = "x.js"\nenv_files = ["a.env"]\n')
    (worktree / "sub").mkdir()
    assert described(worktree / "sub").env_files == (EnvFile(path=worktree / "a.env"),)
    typed = described(worktree / "sub", env_files=["b.env"])
    assert typed.env_files == (EnvFile(path=worktree / "sub/b.env"),)


def test_a_typed_folder_is_where_the_search_begins(worktree):
    write(worktree / "there/gateway-bench.toml", '[gateway]\nentry = "x.js"\n')
    config = described(worktree, dir="there")
    assert config.dir == worktree / "there"
    assert config.entry == worktree / "there/x.js"
    assert config.cwd == worktree


def test_the_dotenv_above_the_git_root_is_not_read(tmp_path):
    write(tmp_path / ".env", "GATEWAY_PORT=1002\n")
    (tmp_path / "tree/.git").mkdir(parents=True)
    assert described(tmp_path / "tree", preset="demo").port is None


def test_without_files_nothing_of_the_folder_counts(worktree):
    write(worktree / "gateway-bench.toml", "[gateway]\nprot = 1\n")
    write(worktree / ".env", "GATEWAY_PORT=x\n")
    assert described(worktree, use_files=False, preset="demo").port is None
