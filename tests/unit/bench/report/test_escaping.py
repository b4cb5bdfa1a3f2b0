import csv
import io
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.report.escaping import (
    csv_cell,
    display_width,
    fit,
    markdown_cell,
    markdown_prose,
    shorten,
    visible,
)

any_text = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b[31mred", r"\x1b[31mred", id="ESC and CSI"),
        pytest.param("\x9b2J", r"\x9b2J", id="C1 CSI"),
        pytest.param("\x07", r"\x07", id="BEL"),
        pytest.param("\x7f\x00", r"\x7f\x00", id="DEL and NUL"),
        pytest.param("a\r\nb\tc", r"a\r\nb\tc", id="line breaks"),
        pytest.param("\u202egnp.exe", r"\u202egnp.exe", id="right-to-left override"),
        pytest.param("\u2066\u2069\u200f", r"\u2066\u2069\u200f", id="isolates and mark"),
        pytest.param("a\u200bb\ufeff", r"a\u200bb\ufeff", id="zero width"),
        pytest.param("\u2028", r"\u2028", id="line separator"),
        pytest.param("\U000e0041", r"\U000e0041", id="tag character"),
        pytest.param("\ud800", r"\ud800", id="lone surrogate"),
        pytest.param("\u3164", r"\u3164", id="blank letter"),
        pytest.param(r"\x1b", r"\\x1b", id="a forged escape"),
        pytest.param("Größe 東京 😀 é", "Größe 東京 😀 é", id="ordinary text"),
    ],
)
def test_what_is_hidden_or_steers_is_shown(text, shown):
    assert visible(text) == shown


def test_a_block_keeps_its_line_breaks():
    assert visible("a\n\tb\x1b", keep="\n\t") == "a\n\tb\\x1b"


@given(any_text)
def test_nothing_invisible_is_left(text):
    for char in visible(text):
        assert unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(any_text, any_text)
def test_different_texts_look_different(left, right):
    assert (visible(left) == visible(right)) == (left == right)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        pytest.param("swift/demo-small:eu", "swift/demo-small:eu", id="an id"),
        pytest.param("seeded_shortest_path", "seeded_shortest_path", id="underscores in a word"),
        pytest.param("6 of 7, 49 to 97%", "6 of 7, 49 to 97%", id="a figure"),
        pytest.param("-", "-", id="nothing measured"),
        pytest.param("+50 points", "+50 points", id="a signed number"),
        pytest.param("", "-", id="empty"),
        pytest.param("  ", "`(blank)`", id="blank"),
        pytest.param("a|b", r"`a\x7cb`", id="pipe"),
        pytest.param("`x` ``", r"`\x60x\x60 \x60\x60`", id="backticks"),
        pytest.param("<script>", "`&lt;script&gt;`", id="markup"),
        pytest.param("&lt;", "`&amp;lt;`", id="entity"),
        pytest.param("**b**", "`**b**`", id="emphasis"),
        pytest.param("_b_", "`_b_`", id="underscore emphasis"),
        pytest.param("[a](http://b)", "`[a](http://b)`", id="link"),
        pytest.param("https://evil.example", "`https://evil.example`", id="bare address"),
        pytest.param("www.evil.example", "`www.evil.example`", id="bare host"),
        pytest.param("@someone", "`@someone`", id="mention"),
        pytest.param("a\nb", r"`a\nb`", id="line break"),
        pytest.param("- item", "`- item`", id="list"),
    ],
)
def test_a_cell_is_plain_when_harmless_and_code_otherwise(text, cell):
    assert markdown_cell(text) == cell


@given(any_text)
def test_a_cell_can_not_be_left(text):
    cell = markdown_cell(text)
    assert "\n" not in cell
    assert "|" not in cell
    assert "<" not in cell
    assert cell.count("`") in {0, 2}
    if "`" in cell:
        assert cell[0] == cell[-1] == "`"


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        pytest.param("run `gateway-bench resume`", "run `gateway-bench resume`", id="our command"),
        pytest.param("(`--overlap`)", "(`--overlap`)", id="our flag"),
        pytest.param("`<b>`", r"\`&lt;b&gt;\`", id="code that could be more"),
        pytest.param("a_b _c_ *d*", r"a_b \_c\_ \*d\*", id="emphasis"),
        pytest.param("# x", r"\# x", id="heading"),
        pytest.param("[a](b) ![c](d)", r"\[a\](b) \!\[c\](d)", id="link and image"),
        pytest.param("http://a www.b", "http&#58;//a www&#46;b", id="addresses"),
        pytest.param("to c@d, `e@f`", r"to `c@d,` `\x60e@f\x60`", id="mentions and mail"),
        pytest.param("a\nb\x1b", r"a\\nb\\x1b", id="hidden characters"),
    ],
)
def test_prose_acts_on_nothing(text, prose):
    assert markdown_prose(text) == prose


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        pytest.param(None, "", id="not measured"),
        pytest.param(True, "true", id="truth"),
        pytest.param(-3, "-3", id="negative number stays a number"),
        pytest.param(-0.5, "-0.5", id="negative fraction"),
        pytest.param(0.00000015, "0.00000015", id="no exponent"),
        pytest.param(-1e-30, "0", id="nothing left"),
        pytest.param(12.0, "12", id="whole"),
        pytest.param("=1+1", "'=1+1", id="formula"),
        pytest.param("+1", "'+1", id="plus"),
        pytest.param("-1", "'-1", id="minus as text"),
        pytest.param("@SUM(A1)", "'@SUM(A1)", id="at"),
        pytest.param("\t=1", r"'\t=1", id="tab"),
        pytest.param("\r=1", r"'\r=1", id="carriage return"),
        pytest.param("  =1", "'  =1", id="after blanks"),
        pytest.param("\uff1d1", "'\uff1d1", id="full width"),
        pytest.param('=HYPERLINK("u","x")', '"\'=HYPERLINK(""u"",""x"")"', id="quoted formula"),
        pytest.param("a;=1", '"a;=1"', id="other separator"),
        pytest.param('say "a, b"', '"say ""a, b"""', id="quotes"),
        pytest.param("a\nb", r"a\nb", id="line break"),
    ],
)
def test_a_csv_cell_can_not_become_a_formula(value, cell):
    assert csv_cell(value) == cell


@given(any_text)
def test_a_csv_cell_is_one_cell_of_one_row(text):
    rows = list(csv.reader(io.StringIO(f"{csv_cell(text)},end\n")))
    assert len(rows) == 1
    assert rows[0][1:] == ["end"]
    assert rows[0][0] in {visible(text), f"'{visible(text)}"}
    assert not re.match(r"[=+\-@\t\r]", rows[0][0])


def test_a_cut_says_what_is_missing():
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("x" * 1_010, 10) == "xxxxxxxxxx … (1,000 more characters)"


@pytest.mark.parametrize(
    ("text", "width", "fitted"),
    [
        pytest.param("short", 10, "short", id="fits"),
        pytest.param("provider/model:region", 11, "provi…egion", id="middle left out"),
        pytest.param("東京東京東京", 7, "東…京", id="wide characters"),
    ],
)
def test_a_name_is_fitted_by_terminal_columns(text, width, fitted):
    assert fit(text, width) == fitted
    assert display_width(fitted) <= width


def test_combining_marks_take_no_column():
    assert display_width("e\u0301") == 1
