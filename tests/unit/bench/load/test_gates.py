import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.load.condition import near_name, read_condition
from bench.load.gates import read_gate
from bench.load.slo import read_slo


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ttft.p99=500ms", ("ttft", 0.99, 500.0, "ms", True)),
        (" firstToken.p90 = 1.5s ", ("firstToken", 0.9, 1500.0, "ms", True)),
        ("itl.p95=50ms", ("itl", 0.95, 50.0, "ms", True)),
        ("tpot.p50=20ms", ("tpot", 0.5, 20.0, "ms", True)),
        ("total.p90=2m", ("total", 0.9, 120_000.0, "ms", True)),
        ("tokens-per-s.p50=40", ("speed", 0.5, 40.0, "tokens/s", False)),
        ("success=99.5%", ("success", 0.5, 0.995, "%", False)),
        ("errors=1%", ("errors", 0.5, 0.01, "%", True)),
        ("quality.score=90%", ("score", 0.5, 0.9, "%", False)),
        ("score=90%", ("score", 0.5, 0.9, "%", False)),
        ("slo=95%", ("slo", 0.5, 0.95, "%", False)),
        ("goodput=300/m", ("goodput", 0.5, 5.0, "/s", False)),
        ("rate=20/s", ("rate", 0.5, 20.0, "/s", False)),
        ("cost=0.50usd", ("cost", 0.5, 0.5, "usd", True)),
    ],
)
def test_a_limit_knows_its_unit_and_which_side_is_wrong(text, wanted):
    gate = read_gate(text)
    assert (gate.quantity, gate.fraction, gate.bound, gate.unit, gate.fails_above) == wanted
    assert not gate.is_difference
    assert gate.text == text.strip()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ttft=+5%", ("ttft", 0.5, 0.05, "%", True)),
        ("itl.p99=+2ms", ("itl", 0.99, 2.0, "ms", True)),
        ("total.p99.9=-1s", ("total", 0.999, -1000.0, "ms", False)),
        ("tokens-per-s=-3", ("speed", 0.5, -3.0, "tokens/s", False)),
        ("errors=+1pt", ("errors", 0.5, 0.01, "pt", True)),
    ],
)
def test_a_difference_says_by_its_sign_which_way_is_forbidden(text, wanted):
    gate = read_gate(text)
    assert gate.is_difference
    assert (gate.quantity, gate.bound, gate.unit, gate.fails_above) == (wanted[0], *wanted[2:])
    assert gate.fraction == pytest.approx(wanted[1])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tft.p99=5ms", "did you mean `ttft`"),
        ("Goodputt=5/s", "did you mean `goodput`"),
        ("", "metrics are ttft"),
        ("xyzzy=3", "^metrics are"),
        ("ttft.p99", "a bound is needed: `ttft.p99=500ms`"),
        ("ttft.p99=", "a bound is needed"),
        ("ttft=500ms", r"needs a percentile \(p50, p90, p95 or p99\)"),
        ("ttft.p98=500ms", "over a run has p50, p90, p95 or p99"),
        ("ttft.max=3s", "over a run has p50"),
        ("tokens-per-s.p99=3", "over a run has p50: `tokens-per-s.p50=40`"),
        ("success.p50=3%", "is one figure of a run and has no `.p50`"),
        ("ttft.p99=500", "a time with its unit is needed"),
        ("ttft.p99=0ms", "a time with its unit is needed"),
        ("ttft.p99=abc", "a time with its unit is needed"),
        ("ttft.p99=5h", "a time with its unit is needed"),
        ("success=0.99", "a share of a hundred with `%`"),
        ("success=120%", "a share of a hundred"),
        ("success=99,5%", "a share of a hundred"),
        ("goodput=5", "a number with `/s`, `/m` or `/h`"),
        ("rate=5/d", "a number with `/s`"),
        ("tokens-per-s.p50=0", "a number of tokens per second"),
        ("cost=5", "an amount with `usd`"),
        ("cost=$5", "an amount with `usd`"),
        (f"cost={'9' * 400}usd", "an amount with `usd`"),
        ("firstToken=+5%", "not held against one another by `first-token`, but by ttft"),
        ("ttft.max=+5%", "`ttft=.5%`, `itl.p99=.2ms` or"),
        ("ttft=+x", "`ttft=.5%`, `itl.p99=.2ms` or"),
        ("ttft.p0=+5%", "a percentile lies between 0 and 100"),
        ("ttft=+5", "a time differs by"),
        ("errors=+1%", "one point of a hundred more"),
        ("errors.p50=+1pt", "one point of a hundred more"),
        ("tokens-per-s=-5ms", "tokens per second differ by"),
    ],
)
def test_what_is_no_gate_says_what_is_needed(text, told):
    with pytest.raises(ValueError, match=told):
        read_gate(text)


@given(st.text(max_size=30))
def test_no_text_is_more_than_a_gate_or_a_plain_fault(text):
    try:
        bound = read_gate(text).bound
    except ValueError:
        bound = 0.0
    assert math.isfinite(bound)


@given(st.sampled_from(["ttft", "itl", "total", "tpot"]), st.floats(0.001, 1e6))
def test_objectives_and_gates_share_names_and_bounds(name, size):
    text = f"{size:.3f}ms"
    assert read_gate(f"{name}.p99={text}").bound == read_slo(f"{name}={text}").bound


def test_objectives_take_the_other_spelling_too():
    assert read_slo("firstToken=1s").metric == "first-token"


def test_a_condition_is_taken_apart_without_judging_it():
    one = read_condition("a.b.p99.9=")
    assert (one.metric, one.statistic, one.bound) == ("a.b", "p99.9", "")
    assert read_condition("ttft").bound is None
    assert near_name("", ("ttft",)) is None
