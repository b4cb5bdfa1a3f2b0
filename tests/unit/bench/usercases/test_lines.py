"""Lines of keys and elements, in TOML and in YAML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.usercases.located import NotReadable
from bench.usercases.toml_text import read_toml
from bench.usercases.yaml_text import read_yaml

TOML = '''\
# comment
id = "a"  # id
"quoted key" = 'x'
text = """
id = "not a key"
[nor.a.table]
"""
raw = \'\'\'
x\'\'\'
dotted.inner = 1
list = [ # first
  1,
  { b = 2, c = [
    3,
  ] },
]

[table]
when = 2020-01-01T00:00:00Z

[[checks]]
type = "exact"

[[checks]]
type = "regex"
[[checks.inner]]
deep = true
[checks.inner.sub]
last = 1.5
'''

YAML = """\
id: a
text: |
  id: not a key
cases:
  - id: b
    list: [1,
      2]
  - {id: c,
     n: no, yes: true}
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("id",), 2),
        (("quoted key",), 3),
        (("text",), 4),
        (("raw",), 8),
        (("dotted", "inner"), 10),
        (("list",), 11),
        (("list", 0), 12),
        (("list", 1, "b"), 13),
        (("list", 1, "c", 0), 14),
        (("table",), 18),
        (("table", "when"), 19),
        (("checks",), 21),
        (("checks", 0, "type"), 22),
        (("checks", 1), 24),
        (("checks", 1, "type"), 25),
        (("checks", 1, "inner", 0, "deep"), 27),
        (("checks", 1, "inner", 0, "sub", "last"), 29),
        (("checks", 1, "nowhere"), 24),
        (("nowhere",), 1),
    ],
)
def test_a_part_of_toml_has_its_line(place, line):
    assert read_toml(TOML).line(place) == line
    assert read_toml(TOML.replace("\n", "\r\n")).line(place) == line


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("text",), 2),
        (("cases", 0), 5),
        (("cases", 0, "list", 1), 7),
        (("cases", 1, "id"), 8),
        (("cases", 1, "n"), 9),
    ],
)
def test_a_part_of_yaml_has_its_line(place, line):
    assert read_yaml(YAML).line(place) == line


def test_only_true_and_false_are_truth_values_in_yaml():
    assert read_yaml(YAML).value["cases"][1] == {"id": "c", "n": "no", "yes": True}
    assert read_yaml("a: 2020-01-01").value == {"a": "2020-01-01"}
    assert read_yaml("").value is None


KEYS = st.text("abc-_", min_size=1, max_size=4)
PLAIN = st.one_of(st.integers(), st.booleans(), st.text("xy=[]{}#'\"\\\n,.", max_size=8))


def toml_value(value):
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            return f'"{escaped}"'
        case list():
            return "[\n" + ",\n".join(map(toml_value, value)) + "\n]"
        case _:
            pairs = (f"{key} = {toml_value(one)}" for key, one in value.items())
            return "{ " + ", ".join(pairs) + " }"


VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_the_scanner_finds_every_key_where_it_stands(document):
    text = "".join(f"{key} = {toml_value(value)}\n" for key, value in document.items())
    read = read_toml(text)
    assert read.value == document
    lines = text.split("\n")
    for key in document:
        assert lines[read.line((key,)) - 1].startswith(f"{key} = ")


@pytest.mark.parametrize(
    ("read", "text", "line"),
    [
        (read_toml, 'a = 1\nb = "', 2),
        (read_toml, "a = " + "[" * 100_000, None),
        (read_yaml, "a: [1\nb: 2", 2),
        (read_yaml, "a: 1\na: 2", 2),
        (read_yaml, "? [a]\n: 1", 1),
        (read_yaml, "a: !!python/object:os.system 2", 1),
        (read_yaml, "a: !!int xy", 1),
        (read_yaml, "[" * 100_000, None),
        (read_yaml, "a: \x00", None),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_line(read, text, line):
    with pytest.raises(NotReadable) as refused:
        read(text)
    assert line is None or refused.value.line == line


def test_aliases_that_multiply_are_refused():
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(NotReadable, match="values"):
        read_yaml("\n".join(rows))
