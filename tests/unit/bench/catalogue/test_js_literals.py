import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.catalogue.js_literals import MAX_DEPTH, UNREAD, NotData, read_module, read_value


def read(text: str, name: str = "x") -> object:
    module = read_module(text)

    def look_up(other: str) -> object:
        if other not in module.declared or other == name:
            return UNREAD
        return read_value(module, other, look_up)

    return read_value(module, name, look_up)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("const x = 1;", 1, id="number"),
        pytest.param("let x = -1.5e-6", -1.5e-6, id="exponent-no-semicolon"),
        pytest.param("const x = 1_000;", 1000, id="grouped"),
        pytest.param("const x = 0x1F;", 31, id="hexadecimal"),
        pytest.param("const x = .5;", 0.5, id="no-leading-zero"),
        pytest.param("export const x = true;", True, id="exported"),
        pytest.param("const x = undefined;", None, id="undefined"),
        pytest.param("const x = Infinity;", None, id="endless"),
        pytest.param(r"const x = 'a\'b\n\u00e9\u{1F600}\x41';", "a'b\né😀A", id="escapes"),
        pytest.param("const x = `plain`;", "plain", id="template-without-holes"),
        pytest.param("const x = [1, 'a', [], {}, ];", [1, "a", [], {}], id="trailing-comma"),
        pytest.param('const x = {a: 1, "b-c": 2, 3: 4};', {"a": 1, "b-c": 2, "3": 4}, id="keys"),
        pytest.param("const x = { // c\n a: /* d */ 1 };", {"a": 1}, id="comments"),
        pytest.param('const x = [new Date("2026-01-02")];', ["2026-01-02"], id="date"),
        pytest.param("const a = [1];\nconst x = [...a, 2];", [1, 2], id="spread"),
        pytest.param("const a = {p: 1};\nconst x = {...a, q: 2};", {"p": 1, "q": 2}, id="merged"),
        pytest.param("const a = 3;\nconst x = {a};", {"a": 3}, id="shorthand"),
        pytest.param("const a = [7]\nconst x = a", [7], id="a-name"),
    ],
)
def test_data_is_read(text, value):
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("const x = [f(1, [2]), 3];", [3], id="call"),
        pytest.param("const x = {a: 1 + 2, b: 3};", {"b": 3}, id="arithmetic"),
        pytest.param("const x = {a: () => { return 1; }, b: 3};", {"b": 3}, id="arrow"),
        pytest.param("const x = {a() { return 1; }, b: 3};", {"b": 3}, id="method"),
        pytest.param("const x = [unknown, 1, ...unknown];", [1], id="foreign-names"),
        pytest.param("const x = {...unknown, b: 3};", {"b": 3}, id="foreign-spread"),
        pytest.param("const x = [new Map(), `a${1}`, 3];", [3], id="objects-and-holes"),
        pytest.param("const x = [a ? 1 : 2, !b, 3];", [3], id="operators"),
    ],
)
def test_what_is_no_data_is_left_out_and_never_run(text, value):
    assert read(text) == value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("const x = [1, 2", id="open-array"),
        pytest.param("const x = {a: 1", id="open-object"),
        pytest.param("const x = {+: 1}", id="no-key"),
        pytest.param("const x = [1;2]", id="no-comma"),
        pytest.param("const x = f(", id="open-call"),
        pytest.param("const x = " + "[" * (MAX_DEPTH + 5), id="too-deep"),
    ],
)
def test_broken_text_is_an_error(text):
    with pytest.raises(NotData):
        read(text)


def test_imports_and_exports_are_found():
    module = read_module(
        'import { a as b, c } from "./one.js";\nexport * from "./two.js";\n'
        'export { d } from "./three.js";\nexport const e = 1;\n'
    )
    assert module.imported == {
        "b": ("./one.js", "a"),
        "c": ("./one.js", "c"),
        "d": ("./three.js", "d"),
    }
    assert module.all_of == ("./two.js",)
    assert set(module.declared) == {"e"}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(_JSON)
def test_json_is_javascript(value):
    assert read(f"const x = {json.dumps(value)};") == value


@given(st.text(alphabet="[]{}(),:;'\"`\\.\n 1axyz$/*-=>", max_size=60))
def test_no_text_ends_in_anything_but_a_value_or_not_data(text):
    with suppress(NotData):
        read(f"const x = {text}")
