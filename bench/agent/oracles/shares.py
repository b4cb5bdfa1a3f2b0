"""Checks of `agentic_test_cases`: the candidate's cases are data, tried here on right and wrong code.

Nothing of the candidate runs. The cases are bounded before anything is computed from them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from bench.agent.comparing import quote
from bench.agent.task import Check, Json, Tree, TreeCheck

_FILE = "cases.json"
_MOST_CASES, _MOST_WEIGHTS, _LARGEST = 60, 12, 10**24

_Shares = list[int] | None
"""``None`` = a ValueError."""
_Split = Callable[[int, Sequence[int]], _Shares]
_Case = tuple[int, list[int], _Shares]


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    return (
        TreeCheck(id="cases-are-right", rule="form, and the right code passes", judge=_right),
        *(
            TreeCheck(id=f"catches-{name}", rule="a case fails on it", judge=_catches(mutant))
            for name, mutant in _MUTANTS.items()
        ),
    )


def _right(tree: Tree) -> str | None:
    cases = _cases(tree)
    if isinstance(cases, str):
        return cases
    wrong = next((case for case in cases if _split(case[0], case[1]) != case[2]), None)
    return None if wrong is None else f"the right code does not do that: {quote(list(wrong))}"


def _catches(mutant: _Split) -> Callable[[Tree], str | None]:
    def judge(tree: Tree) -> str | None:
        cases = _cases(tree)
        if isinstance(cases, str):
            return cases
        right = [case for case in cases if _split(case[0], case[1]) == case[2]]
        caught = any(mutant(total, weights) != shares for total, weights, shares in right)
        return None if caught else "no right case fails on this wrong code"

    return judge


def _cases(tree: Tree) -> list[_Case] | str:
    """Return the cases, or what is wrong with their form."""
    try:
        found = json.loads(tree.get(_FILE, ""))
    except (ValueError, RecursionError):
        return f"`{_FILE}` is no JSON"
    if not isinstance(found, list) or not 0 < len(found) <= _MOST_CASES:
        return f"`{_FILE}` is no list of 1 to {_MOST_CASES} cases"
    cases = [_case(entry) for entry in found]
    bad = next((entry for entry, case in zip(found, cases, strict=True) if case is None), None)
    if bad is not None or None in cases:
        return f"no case: {quote(bad)}"
    return [case for case in cases if case is not None]


def _case(entry: Json) -> _Case | None:
    match entry:
        case {"total": total, "weights": list(weights), "shares": list(shares), **rest}:
            fits = not rest and all(map(_is_number, shares)) and len(shares) <= _MOST_WEIGHTS
            result: _Shares = shares
        case {"total": total, "weights": list(weights), "error": True, **rest}:
            fits, result = not rest, None
        case _:
            return None
    fits = fits and len(weights) <= _MOST_WEIGHTS and all(map(_is_number, [total, *weights]))
    return (total, weights, result) if fits else None


def _is_number(value: Json) -> bool:
    return type(value) is int and abs(value) <= _LARGEST


def _refused(total: int, weights: Sequence[int]) -> bool:
    return total < 0 or any(weight < 0 for weight in weights) or not any(weights)


def _split(total: int, weights: Sequence[int]) -> _Shares:
    """Divide by fractions: exact shares rounded down, then the largest rests first."""
    if _refused(total, weights):
        return None
    return _dealt(total, weights, lambda at, rest: (-rest, at))


def _dealt(
    total: int, weights: Sequence[int], rank: Callable[[int, Fraction], tuple[Fraction | int, ...]]
) -> list[int]:
    exact = [Fraction(total * weight, sum(weights)) for weight in weights]
    shares = [share.__floor__() for share in exact]
    order = sorted(range(len(weights)), key=lambda at: rank(at, exact[at] - shares[at]))
    for at in order[: total - sum(shares)]:
        shares[at] += 1
    return shares


def _loses_cents(total: int, weights: Sequence[int]) -> _Shares:
    return None if _refused(total, weights) else [total * each // sum(weights) for each in weights]


def _rounds_each(total: int, weights: Sequence[int]) -> _Shares:
    if _refused(total, weights):
        return None
    whole = sum(weights)
    return [(2 * total * weight + whole) // (2 * whole) for weight in weights]


def _rest_to_the_front(total: int, weights: Sequence[int]) -> _Shares:
    return None if _refused(total, weights) else _dealt(total, weights, lambda at, _rest: (at,))


def _rest_to_the_last(total: int, weights: Sequence[int]) -> _Shares:
    shares = _loses_cents(total, weights)
    return shares and [*shares[:-1], shares[-1] + total - sum(shares)]


def _ties_to_the_back(total: int, weights: Sequence[int]) -> _Shares:
    if _refused(total, weights):
        return None
    return _dealt(total, weights, lambda at, rest: (-rest, -at))


def _rest_to_the_heaviest(total: int, weights: Sequence[int]) -> _Shares:
    if _refused(total, weights):
        return None
    return _dealt(total, weights, lambda at, _rest: (-weights[at], at))


def _in_floating_point(total: int, weights: Sequence[int]) -> _Shares:
    if _refused(total, weights):
        return None
    exact = [total / sum(weights) * weight for weight in weights]
    shares = [int(share) for share in exact]
    order = sorted(range(len(weights)), key=lambda at: (shares[at] - exact[at], at))
    for at in order[: max(0, min(len(weights), total - sum(shares)))]:
        shares[at] += 1
    return shares


def _takes_negative_totals(total: int, weights: Sequence[int]) -> _Shares:
    shares = _split(abs(total), weights)
    return shares and [share if total >= 0 else -share for share in shares]


def _takes_negative_weights(total: int, weights: Sequence[int]) -> _Shares:
    return _split(total, [max(0, weight) for weight in weights])


def _zeros_without_weights(total: int, weights: Sequence[int]) -> _Shares:
    return [0] * len(weights) if weights and not any(weights) else _split(total, weights)


def _nothing_for_nobody(total: int, weights: Sequence[int]) -> _Shares:
    return _split(total, weights) if weights else []


_MUTANTS: Mapping[str, _Split] = {
    "lost-cents": _loses_cents,
    "rounding-of-each": _rounds_each,
    "rest-to-the-front": _rest_to_the_front,
    "rest-to-the-last": _rest_to_the_last,
    "ties-to-the-back": _ties_to_the_back,
    "rest-to-the-heaviest": _rest_to_the_heaviest,
    "floating-point": _in_floating_point,
    "negative-totals": _takes_negative_totals,
    "negative-weights": _takes_negative_weights,
    "zeros-without-weights": _zeros_without_weights,
    "nothing-for-nobody": _nothing_for_nobody,
}
