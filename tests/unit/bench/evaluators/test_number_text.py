import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.evaluators.number_text import canonical_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        pytest.param("42", "42", id="plain"),
        pytest.param("  42\t", "42", id="space-around"),
        pytest.param("42.", "42", id="full-stop"),
        pytest.param("+42", "42", id="plus"),
        pytest.param("-42", "-42", id="minus"),
        pytest.param("\u221242", "-42", id="unicode-minus"),
        pytest.param("\u2013 42", "-42", id="en-dash-and-space"),
        pytest.param("-0", "0", id="minus-zero"),
        pytest.param("-0.0", "0", id="minus-zero-fraction"),
        pytest.param("0042", "42", id="leading-zeros"),
        pytest.param("42.00", "42", id="trailing-zeros"),
        pytest.param("42.50", "42.5", id="fraction"),
        pytest.param("1,234,567", "1234567", id="comma"),
        pytest.param("1\u00a0234", "1234", id="no-break-space"),
        pytest.param("1\u202f234", "1234", id="narrow-space"),
        pytest.param("1'234", "1234", id="apostrophe"),
        pytest.param("1\u2019234", "1234", id="typographic-apostrophe"),
        pytest.param("1_234", "1234", id="underscore"),
        pytest.param("1{,}234", "1234", id="latex-comma"),
        pytest.param("1\\,234", "1234", id="latex-space"),
        pytest.param("1,234.5", "1234.5", id="grouped-fraction"),
        pytest.param("-1,234", "-1234", id="grouped-negative"),
        pytest.param("\uff14\uff12", "42", id="full-width-digits"),
        pytest.param("\u0664\u0662", "42", id="arabic-digits"),
        pytest.param("\u0661\u066c\u0662\u0663\u0664", "1234", id="arabic-thousands"),
        pytest.param("\u0967\u0968", "12", id="devanagari"),
        pytest.param("\U0001d7d2\U0001d7d0", "42", id="mathematical-bold"),
    ],
)
def test_one_number_has_one_spelling(text, number):
    assert canonical_number(text) == number


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("-", id="sign-only"),
        pytest.param(".", id="stop-only"),
        pytest.param("--4", id="two-signs"),
        pytest.param("-+4", id="mixed-signs"),
        pytest.param("4 2", id="two-numbers"),
        pytest.param("12,34", id="wrong-group"),
        pytest.param("1,234 567", id="mixed-separators"),
        pytest.param("1,2345", id="group-of-four"),
        pytest.param("1.234.567", id="two-points"),
        pytest.param("4\u00b2", id="superscript-is-no-digit"),
        pytest.param("\u2460", id="circled-digit-is-no-digit"),
        pytest.param("4e1", id="exponent"),
        pytest.param("0x2a", id="hexadecimal"),
        pytest.param("42 min", id="unit"),
        pytest.param("nan", id="nan"),
        pytest.param("Infinity", id="infinity"),
        pytest.param("9" * 500, id="too-long"),
        pytest.param("4\x002", id="control-character"),
        pytest.param("\ud800", id="lone-surrogate"),
    ],
)
def test_what_is_no_number_is_none(text):
    assert canonical_number(text) is None


def test_a_point_is_never_a_thousands_separator():
    assert canonical_number("1.234") == "1.234"


@given(st.integers(-(10**30), 10**30))
def test_grouping_and_sign_do_not_change_a_whole_number(number):
    assert canonical_number(f"{number:,}") == str(number)
    assert canonical_number(f"{number:_}".replace("-", "\u2212")) == str(number)


@given(st.text())
def test_the_spelling_is_stable(text):
    number = canonical_number(text)
    assert number is None or canonical_number(number) == number
