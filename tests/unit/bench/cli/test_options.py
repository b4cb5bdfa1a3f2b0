import json
from pathlib import Path
from typing import Any

import click
import pytest

from bench.cli.baseline_options import BASELINE_ROWS
from bench.cli.config_show import setting_lines
from bench.cli.options import (
    measuring_argv,
    measuring_options,
    pairing_options,
    typed_settings,
    with_positionals,
)
from bench.cli.outcome import json_schema
from bench.cli.sections import SectionedCommand
from bench.config import Place, load_config
from bench.model.paired import OF_ONE_ENDPOINT
from bench.settings import SETTINGS

ROOT = Path(__file__).parents[4]


@click.command(cls=SectionedCommand)
@click.argument("model_id", required=False)
@click.argument("mappings", required=False)
@click.argument("run_count", required=False)
@measuring_options
@click.pass_context
def probe(ctx: click.Context, /, **_: object) -> list[str]:
    """Return what a child would be given."""
    return measuring_argv(ctx)


def emitted(*words: str) -> list[str]:
    with probe.make_context("probe", list(words)) as ctx:
        argv = probe.invoke(ctx)
    assert isinstance(argv, list)
    return argv


def params(*words: str) -> dict[str, Any]:
    with probe.make_context("probe", list(words)) as ctx:
        return dict(ctx.params)


EMISSIONS = [
    pytest.param([], [], id="nothing-typed"),
    pytest.param(["m"], ["--model=m"], id="model"),
    pytest.param(
        ["m", "a,b", "3", "--mapping", "c"],
        ["--model=m", "--mapping=a,b", "--mapping=c", "--runs=3"],
        id="positional",
    ),
    pytest.param(["--no-stream"], ["--no-stream"], id="off-of-a-pair"),
    pytest.param(["--stream"], ["--stream"], id="on-of-a-pair"),
    pytest.param(["--no-key", "--no-archive"], ["--no-key", "--no-archive"], id="negatives"),
    pytest.param(["--max-time", "2m", "-c", "4"], ["--budget=2m", "--concurrency=4"], id="aliases"),
    pytest.param(["-H", "A: b", "-H", "C: d"], ["--header=A: b", "--header=C: d"], id="headers"),
    pytest.param(
        ["--yes", "--no-budget", "--again", "--trust-url", "h"],
        ["--yes", "--again", "--no-budget", "--trust-url", "h"],
        id="agreements",
    ),
    pytest.param(["--json", "--debug", "-v"], [], id="talk-stays-here"),
    pytest.param(["--case", "-x"], ["--case=-x"], id="a-value-with-a-dash"),
]


@pytest.mark.parametrize(("typed", "wanted"), EMISSIONS)
def test_a_child_is_given_what_was_typed(typed, wanted):
    assert emitted(*typed) == wanted


@pytest.mark.parametrize(("typed", "wanted"), EMISSIONS)
def test_what_is_given_to_a_child_means_the_same(typed, wanted):
    before = with_positionals(
        params(*typed), *(params(*typed)[name] for name in ("model_id", "mappings", "run_count"))
    )
    assert typed_settings(params(*wanted)) == typed_settings(before)


def test_every_setting_but_the_folder_has_an_option():
    names = {parameter.name for parameter in probe.params}
    names |= {row.field for row in BASELINE_ROWS}
    assert set(SETTINGS) - names == {"output_dir"}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        pytest.param({"runs": "1"}, "RUNS is given twice", id="runs"),
    ],
)
def test_a_value_given_twice_is_a_usage_error(typed, said):
    with pytest.raises(click.UsageError, match=said):
        with_positionals(typed, "m", "a", "2")


def test_a_budget_and_none_exclude_each_other():
    with pytest.raises(click.UsageError, match="exclude each other"):
        typed_settings(params("--budget", "1s", "--no-budget"))
    assert typed_settings(params("--no-budget")) == {"budget": "none"}


@pytest.mark.parametrize("name", ["--output", "--format"])
def test_owned_options_are_refused_with_their_reason(name):
    with pytest.raises(click.UsageError, match="it writes all report formats itself"):
        params(name, "x")


def test_the_help_stands_under_headings_and_hides_what_is_refused():
    with probe.make_context("probe", []) as ctx:
        text = probe.get_help(ctx)
    headings = [line for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == [
        "What is measured:",
        "How often and how long:",
        "Load:",
        "Gates:",
        "The request:",
        "Endpoint and key:",
        "Money:",
        "Results:",
        "Talk and help:",
    ]
    assert "--format" not in text


def test_settings_are_shown_with_their_origin_and_without_secrets(tmp_path):
    flags = {"header": ("X: hidden",), "stream": False, "mapping": ("a,b",)}
    lines = setting_lines(load_config(flags, Place(folder=tmp_path, environ={})))
    shown = {line.split(" = ")[0]: line.split(" = ")[1] for line in lines}
    assert shown["stream"].split() == ["false", "(flag)"]
    assert shown["mapping"].split() == ["a,", "b", "(flag)"]
    assert shown["runs"].split() == ["-", "(default)"]
    assert "hidden" not in "".join(lines)


def test_the_shipped_schema_is_the_one_of_the_object():
    shipped = json.loads((ROOT / "bench" / "schemas" / "command-result.json").read_text())
    assert shipped == json_schema()


@click.command(cls=SectionedCommand)
@pairing_options
@click.pass_context
def paired_probe(ctx: click.Context, /, **_: object) -> list[str]:
    """Return what a child would be given."""
    return measuring_argv(ctx)


def test_help_of_a_comparison_leaves_out_what_it_refuses():
    shown = paired_probe.get_help(click.Context(paired_probe))
    for field in OF_ONE_ENDPOINT:
        assert f"--{field.replace('_', '-')} " not in shown
    assert "--fail-on" in shown
    assert "ttft=+5%" in shown


def test_what_help_leaves_out_is_read_all_the_same_so_that_it_can_be_refused_in_words():
    with paired_probe.make_context("probe", ["--sweep", "1..8"]) as ctx:
        assert paired_probe.invoke(ctx) == ["--sweep=1..8"]
