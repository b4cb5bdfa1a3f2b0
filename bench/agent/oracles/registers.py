"""Checks of `agentic_registers`: each program is run here, and its instructions are counted.

The least number of instructions is found by trying every order of evaluation for every number of
free registers (Aho and Johnson, Optimal Code Generation for Expression Trees, 1976).
"""

from collections.abc import Callable, Mapping

from bench.agent.comparing import quote, same
from bench.agent.oracles.making import calls
from bench.agent.task import Check, Expectation, Json, Judged
from bench.seeds import SeededStream

_NAMES = ("x", "y", "z")
_VALUES: tuple[Mapping[str, int], ...] = (
    {"x": 5, "y": 3, "z": -2},
    {"x": -7, "y": 11, "z": 1},
    {"x": 0, "y": 1, "z": 100},
)
_LARGEST_BITS = 8_000
"""Twice what the largest value of a formula needs; a hostile program may square for ever."""
_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
}


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(23, label="coding task")
    asked = [
        {"tree": _tree(draw, depth, bushy), "registers": registers}
        for depth, bushy in ((0, 9), (1, 9), (3, 9), (4, 9), (5, 9), (6, 7), (7, 9), (9, 6))
        for registers in (2, 3, 4)
    ]
    asked += [{"tree": _comb(draw, 12), "registers": registers} for registers in (2, 3)]
    return calls("generate", asked, _expected)


def _tree(draw: SeededStream, depth: int, bushy: int) -> Json:
    if depth == 0 or draw.below(10) >= bushy:
        return draw.pick((["number", draw.between(0, 9)], ["name", draw.pick(_NAMES)]))
    sides = [_tree(draw, depth - 1, bushy) for _ in range(2)]
    return [draw.pick(("add", "sub", "sub", "mul")), *sides]


def _comb(draw: SeededStream, depth: int) -> Json:
    """Draw a formula that is deep on its right side."""
    tree: Json = ["name", "x"]
    for _ in range(depth):
        tree = [draw.pick(("add", "sub")), ["name", draw.pick(_NAMES)], tree]
    return tree


def _expected(given: Json) -> Expectation:
    least = _costs(given["tree"], given["registers"])[-1]
    return Judged(rule=f"right after {least} instructions", judge=_judge(given, least))


def _costs(tree: Json, registers: int) -> list[int]:
    """Return the least instructions for ``tree`` with 1, 2, … ``registers`` free ones.

    With one register a formula of two sides can't be computed: its cost is out of all reach.
    """
    if tree[0] not in _OPERATIONS:
        return [1] * registers
    left, right = (_costs(side, registers) for side in tree[1:])
    beyond = 10**9
    costs = [beyond]
    for free in range(1, registers):
        kept = min(left[free] + right[free - 1], right[free] + left[free - 1])
        stored = left[free] + right[free] + 2
        costs.append(min(beyond, 1 + min(kept, stored)))
    return costs


def _judge(given: Json, least: int) -> Callable[[Json], str | None]:
    def judge(program: Json) -> str | None:
        if not isinstance(program, list):
            return f"returned {quote(program)}, no program"
        if len(program) > least:
            return f"{len(program)} instructions, where {least} are enough"
        for values in _VALUES:
            made, wanted = _run(program, given["registers"], values), _value(given["tree"], values)
            if not same(made, wanted):
                return f"{quote(dict(values))} give {quote(made)}, not {quote(wanted)}"
        return None

    return judge


def _value(tree: Json, values: Mapping[str, int]) -> int:
    if tree[0] in _OPERATIONS:
        return _OPERATIONS[tree[0]](_value(tree[1], values), _value(tree[2], values))
    return values[tree[1]] if tree[0] == "name" else int(tree[1])


def _run(program: list[Json], registers: int, values: Mapping[str, int]) -> int | str | None:
    """Return what register 0 holds at the end, or the instruction that can't be carried out."""
    held: dict[int, int] = {}
    memory: dict[int, int] = {}
    for step in program:
        match step:
            case ["load", r, value] if _is_one(r, registers) and _known(value, values):
                held[r] = values[value] if isinstance(value, str) else value
            case ["store", slot, r] if _is_one(slot, len(program)) and _holds(held, r):
                memory[slot] = held[r]
            case ["fetch", r, slot] if _is_one(r, registers) and _holds(memory, slot):
                held[r] = memory[slot]
            case [str(name), r, s] if name in _OPERATIONS and _holds(held, r) and _holds(held, s):
                held[r] = _OPERATIONS[name](held[r], held[s])
                if held[r].bit_length() > _LARGEST_BITS:
                    return "a number that no formula has"
            case _:
                return f"no instruction: {quote(step)}"
    return held.get(0)


def _known(value: Json, values: Mapping[str, int]) -> bool:
    return value in values if isinstance(value, str) else type(value) is int and abs(value) < 10**6


def _is_one(number: Json, count: int) -> bool:
    return type(number) is int and 0 <= number < count


def _holds(place: Mapping[int, int], number: Json) -> bool:
    return type(number) is int and number in place
