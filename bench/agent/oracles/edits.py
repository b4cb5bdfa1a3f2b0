"""Checks of `agentic_text_merge`: edits are applied here, and what both make is compared.

The merged text is not computed by transforming anything: each character of the text and each gap
between two of them is looked at by itself.
"""

from collections.abc import Callable
from itertools import pairwise

from bench.agent.comparing import quote
from bench.agent.oracles.making import calls, several
from bench.agent.task import Check, Equals, Expectation, Json, Judged, Raises
from bench.seeds import SeededStream

_Edit = list[int | str]
_LETTERS = "abcdefghijklmnop"


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(21, label="coding task")
    pairs = [_pair(draw, draw.between(0, 9)) for _ in range(26)]
    pairs += [
        {"text": "ab", "a": [1, "x", 1], "b": [1, "y", 1]},
        {"text": "ab", "a": ["x", -2], "b": [-2, "y"]},
        {"text": "abc", "a": [-3], "b": [1, "in", 2]},
        {"text": "abc", "a": [-1, "x", -1, "y", -1], "b": [-1, "p", -1, "q", -1]},
        {"text": "", "a": ["x"], "b": ["y"]},
        {"text": "", "a": [], "b": []},
    ]
    rows = [_row(draw, draw.between(0, 9)) for _ in range(24)]
    rows += [{"text": "ab", "a": [2, "xyz"], "b": [2, -3]}, {"text": "", "a": [], "b": ["x"]}]
    unfit = [{"a": [2], "b": [3]}, {"a": ["x"], "b": [-1]}, {"a": [2], "b": []}]
    unfit_rows = [{"a": [2, "x"], "b": [2]}, {"a": [-2], "b": [1]}, {"a": [1], "b": [1, 1]}]
    return (
        *calls("transform", [*pairs, *unfit], _transformed),
        *calls("compose", [*rows, *unfit_rows], _composed),
        *calls(
            "apply", [{"text": pair["text"], "edit": pair["a"]} for pair in pairs[:3]], _applied
        ),
    )


def _pair(draw: SeededStream, length: int) -> Json:
    return {
        "text": _LETTERS[:length],
        "a": _edit(draw, length, "XY"),
        "b": _edit(draw, length, "12"),
    }


def _row(draw: SeededStream, length: int) -> Json:
    text, first = _LETTERS[:length], _edit(draw, length, "XY")
    made = _apply(text, first)
    assert made is not None  # noqa: S101 - it was drawn to fit
    return {"text": text, "a": first, "b": _edit(draw, len(made), "12")}


def _edit(draw: SeededStream, length: int, letters: str) -> _Edit:
    """Draw an edit of a text of ``length``, unit by unit."""
    units: _Edit = []
    for at in range(length + 1):
        units += several(draw, letters, draw.pick((0, 0, 0, 1, 2)))
        units += [draw.pick((1, 1, -1))] if at < length else []
    edit: _Edit = []
    for unit in units:
        if edit and _kind(edit[-1]) == _kind(unit):
            edit[-1] += unit  # type: ignore[operator]  # both are of one kind
        else:
            edit.append(unit)
    return edit


def _apply(text: str, edit: Json) -> str | None:
    """Return ``text`` after ``edit``; ``None`` = it is no edit, not short, or does not fit."""
    if not isinstance(edit, list) or not all(type(part) in (int, str) and part for part in edit):
        return None
    if any(_kind(one) == _kind(other) for one, other in pairwise(edit)):
        return None
    if sum(abs(part) for part in edit if isinstance(part, int)) != len(text):
        return None
    made, at = "", 0
    for part in edit:
        if isinstance(part, str):
            made += part
        else:
            made += text[at : at + max(0, part)]
            at += abs(part)
    return made


def _kind(part: int | str) -> str:
    return "insert" if isinstance(part, str) else "keep" if part > 0 else "delete"


def _gaps(edit: _Edit, length: int) -> tuple[list[str], list[bool]]:
    """Return what is inserted in each gap, and which characters stay."""
    inserted = [""] * (length + 1)
    stays: list[bool] = []
    for part in edit:
        if isinstance(part, str):
            inserted[len(stays)] += part
        else:
            stays += [part > 0] * abs(part)
    return inserted, stays


def _merged(given: Json) -> str:
    text = given["text"]
    (a_in, a_stays), (b_in, b_stays) = (_gaps(given[side], len(text)) for side in ("a", "b"))
    kept = [
        character if a and b else "" for character, a, b in zip(text, a_stays, b_stays, strict=True)
    ]
    places = zip(a_in, b_in, [*kept, ""], strict=True)
    return "".join(left + right + character for left, right, character in places)


def _transformed(given: Json) -> Expectation:
    if "text" not in given:
        return Raises(name="ValueError")
    return Judged(rule=f"both make {_merged(given)!r}", judge=_judge_transform(given))


def _judge_transform(given: Json) -> Callable[[Json], str | None]:
    def judge(found: Json) -> str | None:
        match found:
            case [a2, b2]:
                ways = {"a, b2": (given["a"], b2), "b, a2": (given["b"], a2)}
            case _:
                return f"returned {quote(found)}, no two edits"
        for way, (first, then) in ways.items():
            between = _apply(given["text"], first)
            made = None if between is None else _apply(between, then)
            if made != _merged(given):
                return f"{way} make {quote(made)}, not {quote(_merged(given))}"
        return None

    return judge


def _composed(given: Json) -> Expectation:
    if "text" not in given:
        return Raises(name="ValueError")
    between = _apply(given["text"], given["a"])
    wanted = None if between is None else _apply(between, given["b"])
    kept = _kept_by_both(given)

    def judge(found: Json) -> str | None:
        made = _apply(given["text"], found)
        if made != wanted:
            return f"makes {quote(made)}, not {quote(wanted)}"
        own = _gaps(found, len(given["text"]))[1]
        return None if own == kept else "keeps other characters than both did"

    return Judged(rule=f"makes {wanted!r}, keeps {kept}", judge=judge)


def _kept_by_both(given: Json) -> list[bool]:
    inserted, stays = _gaps(given["a"], len(given["text"]))
    after = iter(_gaps(given["b"], sum(map(len, inserted)) + sum(stays))[1])
    kept: list[bool] = []
    for gap, stay in zip(inserted, [*stays, False], strict=True):
        for _ in gap:
            next(after)
        kept.append(stay and next(after))
    return kept[:-1]


def _applied(given: Json) -> Expectation:
    return Equals(value=_apply(given["text"], given["edit"]))
