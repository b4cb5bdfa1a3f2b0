from pathlib import Path

import pytest

from bench.config import Config, Place, load_config
from bench.errors import ConfigFaults, UsageFault
from bench.keys import Origin
from bench.settings import SETTINGS

ROOT = Path(__file__).parents[3]


def load(folder: Path, environ: dict[str, str] | None = None, **flags: object) -> Config:
    return load_config(flags, Place(folder=folder, environ=environ or {}))


def test_without_anything_the_defaults_stand(tmp_path):
    config = load(tmp_path)
    assert config.settings.budget == 120_000
    assert config.origins["budget"].origin == "default"
    assert config.output_folder() == tmp_path / ".context" / "benchmarks"


def test_each_place_overrules_the_one_before(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "gateway-bench.toml").write_text(
        "[bench]\nruns = 1\nseed = 1\nwarmup = 1\nbudget = '1s'\n"
    )
    (tmp_path / ".env").write_text("BENCHMARK_SEED=2\nBENCHMARK_WARMUP=2\nBENCHMARK_BUDGET=2s\n")
    environ = {"BENCHMARK_WARMUP": "3", "BENCHMARK_BUDGET": "3s"}
    config = load(tmp_path, environ, budget="4s")
    settings = config.settings
    assert (settings.runs, settings.seed, settings.warmup, settings.budget) == (1, 2, 3, 4_000)
    assert [config.origins[name].origin for name in ("runs", "seed", "warmup", "budget")] == [
        f"{tmp_path / 'gateway-bench.toml'}: runs",
        ".env BENCHMARK_SEED",
        "env BENCHMARK_WARMUP",
        "flag",
    ]
    assert config.trust["seed"] is Origin.DOTENV


def test_a_preset_goes_before_the_defaults_only(tmp_path):
    config = load(tmp_path, {"BENCHMARK_PRESET": "llmgateway"})
    assert config.settings.url == "https://api.llmgateway.io/v1"
    assert config.settings.dialect == "llmgateway"
    assert config.origins["url"].origin == "preset llmgateway"
    assert config.trust["url"] is Origin.PRESET
    assert config.preset is not None
    config = load(tmp_path, {"BENCHMARK_API_URL": "http://h"}, preset="llmgateway", dialect="plain")
    assert (config.settings.url, config.settings.dialect) == ("http://h", "plain")


def test_all_faults_come_in_one_message(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "gateway-bench.toml").write_text(
        "[bench]\nrun = 1\nbudget = 'x'\nallow-unknown-cost = true\n"
    )
    (tmp_path / ".env").write_text("BENCHMARK_TIMOUT=5\nBENCHMARK_ALLOW_UNKNOWN_COST=1\n")
    environ = {"BENCHMARK_SEED": "-1", "BENCHMARK_FILTER": "another program's"}
    with pytest.raises(ConfigFaults) as caught:
        load(tmp_path, environ, runs="0", header=("secret-without-colon",), preset="nope")
    toml = tmp_path / "gateway-bench.toml"
    assert caught.value.message == "\n  ".join(
        [
            "9 settings can't be used:",
            f"`{toml}`: no setting `run` in `[bench]`; did you mean `runs`?",
            f"`{toml}`: `allow-unknown-cost` can't stand in a file; type `--allow-unknown-cost`",
            caught.value.faults[2],
            ".env: `BENCHMARK_ALLOW_UNKNOWN_COST` counts only as `--allow-unknown-cost`",
            f"{toml}: budget is `x`: a duration such as `500ms`, `2m` or plain milliseconds is needed",
            "env BENCHMARK_SEED is `-1`: a whole number from 0 is needed",
            "`--runs` is `0`: a whole number from 1 is needed",
            "`--header`: a header such as `Name: value` is needed",
            "`--preset` is `nope`: one of `demo`, `llmgateway`, `litellm`, `portkey` is needed",
        ]
    )
    assert "did you mean `BENCHMARK_TIMEOUT`" in caught.value.faults[2]
    assert caught.value.exit_code == 2


def test_one_fault_is_one_line(tmp_path):
    with pytest.raises(ConfigFaults) as caught:
        load(tmp_path, runs="x")
    assert caught.value.message == "`--runs` is `x`: a whole number from 1 is needed"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param({"profile": "a", "suite": "b"}, "exclude each other", id="profile-suite"),
        pytest.param({"key": False, "api_key_env": "X"}, "exclude each other", id="no-key-key"),
    ],
)
def test_contradictions_are_faults(tmp_path, flags, said):
    with pytest.raises(ConfigFaults, match=said):
        load(tmp_path, **flags)


def test_a_pyproject_counts_where_it_speaks_of_us(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    (tmp_path / "pyproject.toml").write_text("[tool.gateway-bench.bench]\nruns = 7\n")
    assert load(inner).settings.runs == 7


@pytest.mark.parametrize(
    "text", [pytest.param("runs = = 1", id="no-toml"), pytest.param("bench = 1", id="no-table")]
)
def test_a_broken_file_is_named(tmp_path, text):
    (tmp_path / "gateway-bench.toml").write_text(text)
    with pytest.raises(UsageFault, match=r"gateway-bench\.toml"):
        load(tmp_path)


def test_the_dotenv_is_the_nearest_but_not_above_the_git_root(tmp_path):
    (tmp_path / ".env").write_text("BENCHMARK_RUNS=1\n")
    root, inner = tmp_path / "repo", tmp_path / "repo" / "sub"
    inner.mkdir(parents=True)
    (root / ".git").write_text("gitdir: elsewhere\n")
    assert load(inner).settings.runs is None
    (root / ".env").write_text("BENCHMARK_RUNS=2\n")
    assert load(inner).settings.runs == 2
    (inner / ".env").write_text("BENCHMARK_RUNS=3\n")
    assert load(inner).settings.runs == 3


def test_outside_of_git_only_this_folder_s_dotenv_counts(tmp_path):
    (tmp_path / ".env").write_text("BENCHMARK_RUNS=1\n")
    (tmp_path / "sub").mkdir()
    assert load(tmp_path).settings.runs == 1
    assert load(tmp_path / "sub").settings.runs is None


def test_a_dotenv_is_not_interpolated_and_never_steers_programs(tmp_path):
    (tmp_path / ".env").write_text(
        "MY_KEY=${HOME}x\nHTTPS_PROXY=http://evil\nNODE_OPTIONS=x\nPATH=/evil\nPYTHONPATH=/evil\n"
    )
    config = load(tmp_path, {"HOME": "/home/me"})
    secret = config.secret("MY_KEY", named_by=Origin.FLAG)
    assert secret is not None
    assert secret.value == "${HOME}x"
    assert secret.origin is Origin.DOTENV
    for name in ("HTTPS_PROXY", "NODE_OPTIONS", "PATH", "PYTHONPATH"):
        assert config.secret(name, named_by=Origin.FLAG) is None


def test_the_environment_s_secret_goes_before_the_dotenv_s(tmp_path):
    (tmp_path / ".env").write_text("LLM_GATEWAY_API_KEY=from-file\n")
    config = load(tmp_path, {"LLM_GATEWAY_API_KEY": "from-env", "LOCAL_X": "mine"})
    secret = config.secret("LLM_GATEWAY_API_KEY", named_by=None)
    assert secret is not None
    assert secret.value == "from-env"
    known = config.known_keys()
    assert [value for _, value in known.production] == ["from-env", "from-file"]
    assert ("LOCAL_X", "mine") in known.local
    assert "test-token" in [value for _, value in known.local]


def test_relative_paths_count_from_the_file_that_holds_them(tmp_path):
    inner = tmp_path / "sub"
    inner.mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "gateway-bench.toml").write_text("[bench]\ncacert = 'ca.pem'\noutput-dir = 'out'\n")
    config = load(inner, body="body.json")
    assert config.path_of("cacert") == tmp_path / "ca.pem"
    assert config.path_of("body") == inner / "body.json"
    assert config.output_folder() == tmp_path / "out"
    assert load(tmp_path).path_of("body") is None


def test_no_header_value_is_shown(tmp_path):
    config = load(tmp_path, header=("X-Secret: hidden",))
    assert config.origins["header"].value == ["X-Secret: …"]


def test_every_variable_stands_in_the_example_file():
    text = (ROOT / ".env.example").read_text()
    for setting in SETTINGS.values():
        if "env" in setting.places:
            assert f"#{setting.variable}=" in text, setting.variable


def test_values_are_shown_as_a_person_would_type_them(tmp_path):
    flags = {"timeout": "90000", "budget": "none", "assume_price": "0.15/0.60"}
    shown = load_config(flags, Place(folder=tmp_path, environ={})).origins
    assert shown["timeout"].value == "90s"
    assert shown["budget"].value == "none"
    assert shown["assume-price"].value == "0.15/0.6"
