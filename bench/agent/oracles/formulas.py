"""Checks of `agentic_parser`: trees are drawn and written as text, so that nothing has to be parsed.

Where a text stops being the beginning of a formula is found by a machine that knows only what may
follow what, and which parentheses are open.
"""

import re

from bench.agent.oracles.making import calls
from bench.agent.task import Check, Equals, Expectation, Json
from bench.seeds import SeededStream

_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(5)
_SHAPES: dict[str, tuple[int, int, int]] = {
    "+": (_SUM, _SUM, _PRODUCT),
    "-": (_SUM, _SUM, _PRODUCT),
    "*": (_PRODUCT, _PRODUCT, _UNARY),
    "/": (_PRODUCT, _PRODUCT, _UNARY),
    "%": (_PRODUCT, _PRODUCT, _UNARY),
    "^": (_POWER, _ATOM, _UNARY),
}
"""Sign → the level it makes, the lowest level that its left and right side may have bare."""

_CURATED: dict[str, Json] = {
    "8-3-2": ["-", ["-", ["number", 8], ["number", 3]], ["number", 2]],
    "-2^2": ["negative", ["^", ["number", 2], ["number", 2]]],
    "2^-x": ["^", ["number", 2], ["negative", ["name", "x"]]],
    "f ( )": ["call", "f", []],
    "--1": ["negative", ["negative", ["number", 1]]],
    " 007 ": ["number", 7],
}
_FAULTY = (
    "",
    "   ",
    "1 2",
    "(1",
    "f(1,)",
    "f(,1)",
    "(1,2)",
    "()",
    "1+",
    "1+ *2",
    "2^^3",
    "12ab",
    "a1",
    "1)",
    "f(1))",
    "f(1;2)",
    "1.5",
    "x(1)(2)",
    "3(4)",
    "+1",
    "1\t+2",
    "A",
    "f(g(1, 2)",
    "(f)(1)",
    "²",
    "((1)+(2)",
    "1+x y",
)


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(17, label="coding task")
    trees = dict(_CURATED)
    for depth in (2, 3, 3, 4, 4, 5) * 5:
        tree = _tree(draw, depth)
        trees[_text(draw, tree, _SUM)] = tree
    broken = ["".join(_broken(draw, text)) for text in list(trees)[-12:]]
    faulty = [text for text in (*_FAULTY, *broken) if _stops(text) is not None]
    return calls("formula", [*trees, *faulty], lambda text: _expected(text, trees))


def _expected(text: str, trees: dict[str, Json]) -> Expectation:
    position = _stops(text)
    return Equals(value={"tree": trees[text]} if position is None else {"position": position})


def _tree(draw: SeededStream, depth: int) -> Json:
    kind = draw.below(100)
    if depth == 0 or kind < 10:  # noqa: PLR2004 - shares of what is drawn
        return draw.pick((["number", draw.between(0, 99)], ["name", draw.pick(("x", "abc"))]))
    if kind < 25:  # noqa: PLR2004
        return ["negative", _tree(draw, depth - 1)]
    if kind < 35:  # noqa: PLR2004
        return ["call", "f", [_tree(draw, depth - 1) for _ in range(draw.between(0, 3))]]
    return [draw.pick("+-*/%^^"), _tree(draw, depth - 1), _tree(draw, depth - 1)]


def _text(draw: SeededStream, tree: Json, level: int) -> str:
    """Return ``tree`` as text that may stand where the grammar wants at least ``level``."""
    blank = draw.pick(("", "", " "))
    kind, *rest = tree
    match kind:
        case "number" | "name":
            own, text = _ATOM, str(rest[0])
        case "call":
            inner = f"{blank},".join(_text(draw, one, _SUM) for one in rest[1])
            own, text = _ATOM, f"{rest[0]}{blank}({inner})"
        case "negative":
            own, text = _UNARY, f"-{blank}{_text(draw, rest[0], _UNARY)}"
        case _:
            own, left, right = _SHAPES[kind]
            sides = (_text(draw, rest[0], left), _text(draw, rest[1], right))
            text = f"{sides[0]}{blank}{kind}{blank}{sides[1]}"
    bare = own >= level and draw.below(10) > 0
    return text if bare else f"({blank}{text}{blank})"


def _broken(draw: SeededStream, text: str) -> list[str]:
    at = draw.below(len(text))
    return [text[:at], draw.pick(("", ")", "*", "@", ",")), text[at + 1 :]]


def _stops(text: str) -> int | None:
    """Return the position of the error in ``text``; ``None`` = it is a formula."""
    opened: list[str] = []
    before = "("
    for found in re.finditer(r"[0-9]+|[a-z]+|[^ ]", text):
        word = found.group()
        kind = "0" if word[0] in "0123456789" else "a" if "a" <= word[0] <= "z" else word
        if not _may_follow(before, kind, opened):
            return found.start()
        if kind == "(":
            opened.append("call" if before == "a" else "group")
            kind = "call(" if before == "a" else "("
        elif kind == ")":
            opened.pop()
        before = kind
    return None if before in ("0", "a", ")") and not opened else len(text)


def _may_follow(before: str, kind: str, opened: list[str]) -> bool:
    if before in ("0", "a", ")"):
        if kind == "(":
            return before == "a"
        if kind == ")":
            return bool(opened)
        if kind == ",":
            return opened[-1:] == ["call"]
        return kind in tuple("+-*/%^")
    return kind in ("0", "a", "(", "-") or (before == "call(" and kind == ")")
