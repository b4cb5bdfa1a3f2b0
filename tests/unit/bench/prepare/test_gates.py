from pathlib import Path

import pytest

from bench.config import Config, Place, load_config
from bench.errors import UsageFault
from bench.prepare.gates import with_fitting_gates


def configured(folder: Path, **flags: object) -> Config:
    return load_config({"url": "http://127.0.0.1:1", **flags}, Place(folder=folder, environ={}))


@pytest.mark.parametrize(
    ("gates", "told"),
    [
        pytest.param(("ttft=+5%",), "a sign is of a difference", id="difference"),
        pytest.param(("rate=5/s",), "it is of load: it needs `-n`", id="rate"),
        pytest.param(("slo=95%",), "add one, such as `--slo ttft=500ms`", id="objectives"),
        pytest.param(
            ("ttft=+5%", "goodput=5/s"), "ttft=.5%.*; `--fail-on goodput=5/s`", id="all at once"
        ),
    ],
)
def test_a_gate_that_this_run_can_not_decide_is_refused_before_it(tmp_path, gates, told):
    with pytest.raises(UsageFault, match=told):
        with_fitting_gates(configured(tmp_path, fail_on=gates), is_compared=False, is_load=False)


def test_two_sides_are_compared_by_differences(tmp_path):
    with pytest.raises(UsageFault, match="so a sign is needed"):
        with_fitting_gates(
            configured(tmp_path, fail_on=("ttft.p99=5ms",)), is_compared=True, is_load=False
        )


def test_gates_that_fit_stay_as_they_were_typed(tmp_path):
    config = configured(
        tmp_path, fail_on=("rate=5/s", "goodput=1/s", "ttft.p50=1s"), slo=("ttft=1s",)
    )
    kept, notes = with_fitting_gates(config, is_compared=False, is_load=True)
    assert ([gate.text for gate in kept.settings.fail_on], notes) == (
        ["rate=5/s", "goodput=1/s", "ttft.p50=1s"],
        (),
    )


def test_gates_of_a_file_hold_where_they_fit_and_are_said_where_they_do_not(tmp_path):
    (tmp_path / "gateway-bench.toml").write_text(
        '[bench]\nfail-on = ["ttft.p99=500ms", "ttft=+5%"]\n'
    )
    config = load_config({}, Place(folder=tmp_path, environ={}))
    if not config.settings.fail_on:
        pytest.fail("the file was not read")
    kept, notes = with_fitting_gates(config, is_compared=True, is_load=False)
    assert [gate.text for gate in kept.settings.fail_on] == ["ttft=+5%"]
    assert len(notes) == 1
    assert "not a gate of this run: `--fail-on ttft.p99=500ms`" in notes[0]


def test_every_entry_that_can_not_be_read_is_named(tmp_path):
    with pytest.raises(UsageFault) as found:
        configured(tmp_path, fail_on=("tft.p50=1s", "ttft.p50=1s", "success=2"))
    assert "`tft.p50=1s`: did you mean `ttft`?" in found.value.message
    assert "`success=2`: a share of a hundred" in found.value.message
