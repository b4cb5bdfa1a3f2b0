import pytest

from bench.durations import duration_ms, duration_text
from bench.settings import SETTINGS, Settings, read_value

READINGS = [
    pytest.param("budget", "2m", 120_000.0, id="minutes"),
    pytest.param("budget", "500ms", 500.0, id="milliseconds"),
    pytest.param("budget", "1.5s", 1_500.0, id="seconds"),
    pytest.param("budget", "1h", 3_600_000.0, id="hours"),
    pytest.param("budget", 300000, 300_000.0, id="bare-number-from-toml"),
    pytest.param("budget", "none", None, id="no-limit"),
    pytest.param("timeout", "60000", 60_000.0, id="bare-text"),
    pytest.param("runs", "3", 3, id="whole"),
    pytest.param("warmup", 0, 0, id="no-warmup"),
    pytest.param("max_cost", "$0.50", 0.5, id="dollars"),
    pytest.param("assume_price", "0.15/0.60", (0.15, 0.6), id="prices"),
    pytest.param("temperature", "0", 0.0, id="zero-is-a-temperature"),
    pytest.param("stream", "off", False, id="switch-off"),
    pytest.param("overlap", True, True, id="switch-from-toml"),
    pytest.param("mapping", ["a,b", "c"], ("a", "b", "c"), id="lists"),
    pytest.param("case", "a,b", ("a", "b"), id="one-text-is-a-list"),
    pytest.param("header", "X-A:  b c ", (("X-A", "b c"),), id="header"),
    pytest.param("header_env", ["A=B", "C=D"], (("A", "B"), ("C", "D")), id="secret-headers"),
    pytest.param("dialect", "litellm", "litellm", id="choice"),
    pytest.param("api_key_env", " MY_KEY ", "MY_KEY", id="variable"),
    pytest.param("profile", " smoke ", "smoke", id="text"),
]


@pytest.mark.parametrize(("field", "raw", "value"), READINGS)
def test_each_kind_of_value_is_read(field, raw, value):
    assert read_value(SETTINGS[field], raw) == value


FAULTS = [
    pytest.param("budget", "2 weeks", "a duration such as `500ms`", id="unit"),
    pytest.param("budget", "0", "a duration above 0", id="zero-budget"),
    pytest.param("runs", "0", "a whole number from 1", id="too-few"),
    pytest.param("runs", "1.5", "a whole number from 1", id="fraction"),
    pytest.param("runs", "9" * 5000, "a whole number from 1 to 100,000", id="endless-count"),
    pytest.param("requests", "1000000001", "a whole number from 1 to 1,000,000,000", id="too-many"),
    pytest.param("warmup", "\u0663", "a whole number from 0", id="other-digits"),
    pytest.param("timeout", "\u0663s", "a duration such as", id="other-digits-of-a-duration"),
    pytest.param("budget", "9" * 400, "a duration of at most", id="endless-duration"),
    pytest.param("assume_price", "1/1e308", "a number from 0 to 1,000,000,000", id="high-price"),
    pytest.param("temperature", "1_0", "a number from 0", id="underscore"),
    pytest.param("stop_on", "tokens=" + "9" * 400, "`tokens=500k`", id="endless-tokens"),
    pytest.param("arrival", "gamma:" + "9" * 400, "a shape lies between", id="endless-shape"),
    pytest.param("arrival", "gamma:0.0001", "a shape lies between", id="no-shape"),
    pytest.param("rate", "9" * 300, "at most 1,000,000/s", id="endless-rate"),
    pytest.param("concurrency", "100001", "to 100,000", id="too-many-at-once"),
    pytest.param("slo", "tokens-per-s=1e308", "above 0", id="endless-speed"),
    pytest.param("seed", "-1", "a whole number from 0", id="negative"),
    pytest.param("max_cost", "0", "US dollars above 0", id="zero-dollars"),
    pytest.param("max_cost", "inf", "a number from 0", id="endless"),
    pytest.param("max_cost", "lots", "a number from 0", id="no-number"),
    pytest.param("assume_price", "1", "two prices", id="one-price"),
    pytest.param("stream", "maybe", "`true` or `false`", id="no-switch"),
    pytest.param("header", "X-A", "a header such as", id="no-colon"),
    pytest.param("header", "X A: b", "a header such as", id="blank-in-name"),
    pytest.param("header", "X-A: b\r\nX-B: c", "a header such as", id="line-break"),
    pytest.param("header_env", "A", "HEADER=VARIABLE", id="no-variable"),
    pytest.param("dialect", "lite", "one of `auto`", id="unknown-choice"),
    pytest.param("api_key_env", "sk-12", "not the key itself", id="a-key-is-no-name"),
    pytest.param("profile", " ", "some text", id="blank"),
    pytest.param("profile", {"a": 1}, "a plain value", id="table"),
]


@pytest.mark.parametrize(("field", "raw", "needed"), FAULTS)
def test_what_can_t_be_read_says_what_is_needed(field, raw, needed):
    with pytest.raises(ValueError, match="needed") as caught:
        read_value(SETTINGS[field], raw)
    assert needed in str(caught.value)


def test_the_table_and_the_record_have_the_same_names_in_the_same_order():
    assert list(SETTINGS) == list(Settings.__dataclass_fields__)


@pytest.mark.parametrize(
    ("value_ms", "text"),
    [
        pytest.param(10_000.0, "10s", id="seconds"),
        pytest.param(60_000.0, "60s", id="one-minute"),
        pytest.param(120_000.0, "2m", id="minutes"),
        pytest.param(1_500.0, "1.5s", id="a-part-of-a-second"),
        pytest.param(500.0, "500ms", id="milliseconds"),
        pytest.param(0.25, "0.25ms", id="less"),
    ],
)
def test_a_duration_is_shown_as_it_would_be_typed(value_ms, text):
    assert duration_text(value_ms) == text
    assert duration_ms(text) == value_ms
