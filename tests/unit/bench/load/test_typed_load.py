import pytest

from bench.load.levels import concurrency_levels, rate_levels, sweep_range
from bench.load.rules import read_gaps, read_speed, read_stop_rule, stop_rules
from bench.load.slo import read_slo
from bench.model.load import StopRules
from bench.model.trial import Response, ResponseError, Timing, Trial


@pytest.mark.parametrize(
    ("text", "values", "is_ramp"),
    [
        pytest.param("8", (8,), False, id="one"),
        pytest.param("1,2, 4", (1, 2, 4), False, id="several"),
        pytest.param("1..64", (1, 64), True, id="ramp"),
    ],
)
def test_concurrency_is_one_several_or_a_ramp(text, values, is_ramp):
    levels = concurrency_levels(text)
    assert (levels.values, levels.is_ramp, levels.text) == (values, is_ramp, text)


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "a", "1,,2", "1..2..3", "100001", "٣"])
def test_what_is_no_concurrency_says_what_is_needed(text):
    with pytest.raises(ValueError, match=r"whole numbers|two ends"):
        concurrency_levels(text)


def test_no_more_levels_than_anybody_waits_for():
    with pytest.raises(ValueError, match="at most 100"):
        concurrency_levels(",".join(["1"] * 101))


@pytest.mark.parametrize(
    ("text", "rate"), [("20", 20), ("20/s", 20), ("90/m", 1.5), ("36/h", 0.01)]
)
def test_a_rate_has_a_unit(text, rate):
    assert rate_levels(text).single == pytest.approx(rate)


@pytest.mark.parametrize("text", ["0/s", "x", "5/d", "-1/s", "9" * 400])
def test_what_is_no_rate_says_what_is_needed(text):
    with pytest.raises(ValueError, match="rates above 0"):
        rate_levels(text)


def test_a_sweep_rises_at_once_or_per_second():
    assert (sweep_range("1..256").by, sweep_range("1..256").high) == ("concurrency", 256)
    assert (sweep_range("1/s..5/s").by, sweep_range("1/s..5/s").low) == ("rate", 1)
    for text in ("8", "8..2", "x", "1/s,2/s"):
        with pytest.raises(ValueError, match="rising range"):
            sweep_range(text)


def test_gaps_are_constant_poisson_or_gamma():
    assert read_gaps("constant").arrival == "constant"
    assert read_gaps("gamma:0.5").burstiness == 0.5
    for text in ("gamma", "gamma:0", "gamma:x", "uniform"):
        with pytest.raises(ValueError, match="is needed"):
            read_gaps(text)


def test_stop_rules_are_read_and_the_later_one_counts():
    rules = tuple(map(read_stop_rule, ("errors=10%", "tokens=500k", "tokens=2M", "saturation")))
    assert stop_rules(rules) == StopRules(error_share=0.1, tokens=2_000_000, on_saturation=True)
    for text in ("errors=10", "errors=0%", "errors=101%", "tokens=x", "saturation=1", "time=5"):
        with pytest.raises(ValueError, match="is needed"):
            read_stop_rule(text)


def test_a_speed_is_above_zero():
    assert read_speed("0.5") == 0.5
    for text in ("0", "-1", "x", "inf", "nan"):
        with pytest.raises(ValueError, match="above 0"):
            read_speed(text)


def trial(error=None, **timing):
    return Trial(
        id="t",
        target_id="a",
        case_id="c",
        run=1,
        seed=1,
        started_offset_ms=0,
        finished_offset_ms=1,
        outcome="failed" if error else "completed",
        response=Response(
            timing=Timing(**timing),
            error=ResponseError(code="x", seed_code="x", message="m") if error else None,
        ),
    )


@pytest.mark.parametrize(
    ("text", "timing", "is_kept"),
    [
        pytest.param("ttft=500ms", {"first_content_ms": 500.0}, True, id="on the bound"),
        pytest.param("ttft=500ms", {"first_content_ms": 500.1}, False, id="above"),
        pytest.param("ttft=500ms", {}, False, id="missing is not inside"),
        pytest.param("itl=20ms", {"itl_ms": (5.0, 21.0)}, False, id="every gap"),
        pytest.param("itl.mean=20ms", {"itl_ms": (5.0, 21.0)}, True, id="mean of gaps"),
        pytest.param("itl.p50=13ms", {"itl_ms": (5.0, 21.0)}, True, id="percentile of gaps"),
        pytest.param("itl.p99=50ms", {"itl_ms": ()}, False, id="no gaps"),
        pytest.param("tokens-per-s=20", {"visible_tokens_per_second": 20.0}, True, id="at least"),
        pytest.param("tokens-per-s=20", {"visible_tokens_per_second": 19.0}, False, id="too slow"),
        pytest.param("tpot=1s", {"tpot_ms": 10.0}, True, id="time per token"),
    ],
)
def test_an_objective_holds_for_one_request(text, timing, is_kept):
    assert read_slo(text).is_kept(trial(**timing)) is is_kept


def test_a_failed_request_keeps_no_objective():
    assert not read_slo("total=5s").is_kept(trial(error=True, total_ms=1.0))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ttft", "such as `ttft=500ms`"),
        ("tftt=5ms", "did you mean `ttft`"),
        ("ttft.p99=5ms", "over the whole run"),
        ("itl.p=5ms", "any percentile"),
        ("ttft=soon", "duration"),
        ("ttft=0ms", "above 0"),
        ("tokens-per-s=x", "above 0"),
    ],
)
def test_what_is_no_objective_says_what_is_needed(text, told):
    with pytest.raises(ValueError, match=told):
        read_slo(text)
