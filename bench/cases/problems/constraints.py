"""``boolean_constraints``: which lamps are on, from statements that leave one possibility."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.cases.problem import Problem, problem_case

LAMPS = "ABCDEFG"

State = Mapping[str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that is known about the lamps."""

    text: str
    lamps: str
    """The lamps it speaks of: it can be tested as soon as these are decided."""
    holds: Callable[[State], bool]


STATEMENTS = (
    Statement(
        text="Exactly one of A and B is on.",
        lamps="AB",
        holds=lambda on: on["A"] != on["B"],
    ),
    Statement(
        text="If C is on, then so is D.",
        lamps="CD",
        holds=lambda on: on["D"] or not on["C"],
    ),
    Statement(
        text="B and E are either both on or both off.",
        lamps="BE",
        holds=lambda on: on["B"] == on["E"],
    ),
    Statement(
        text="At least one of C and F is off.",
        lamps="CF",
        holds=lambda on: not (on["C"] and on["F"]),
    ),
    Statement(
        text="If A is on, then F is on and G is off.",
        lamps="AFG",
        holds=lambda on: not on["A"] or (on["F"] and not on["G"]),
    ),
    Statement(
        text="G is on exactly when D is off.",
        lamps="DG",
        holds=lambda on: on["G"] != on["D"],
    ),
    Statement(
        text="An odd number of the lamps D, E and F is on.",
        lamps="DEF",
        holds=lambda on: (on["D"] + on["E"] + on["F"]) % 2 == 1,
    ),
    Statement(
        text="Not exactly three lamps are on.",
        lamps=LAMPS,
        holds=lambda on: sum(on.values()) != 3,  # noqa: PLR2004 - as the line above says
    ),
)


def solutions(lamps: str, statements: Sequence[Statement]) -> list[str]:
    """Return the lamps that are on in each possible state, deciding one lamp after another."""

    def decided(on: dict[str, bool]) -> Iterator[str]:
        if len(on) == len(lamps):
            yield "".join(lamp for lamp in lamps if on[lamp])
            return
        lamp = lamps[len(on)]
        for is_on in (True, False):
            state = {**on, lamp: is_on}
            told = [s for s in statements if lamp in s.lamps and set(s.lamps) <= set(state)]
            if all(statement.holds(state) for statement in told):
                yield from decided(state)

    return list(decided({}))


def the_only(states: Sequence[str]) -> str:
    """Return the only state.

    Raises:
        ValueError: There is none, or more than one.
    """
    (state,) = states
    return state


BOOLEAN_CONSTRAINTS = problem_case(
    Problem(
        id="boolean_constraints",
        name="Boolean constraints",
        category="reasoning",
        dimension="logic",
        difficulty="medium",
        description="finds the one state of seven lamps that eight statements allow",
        question="\n".join(
            [
                f"Seven lamps {', '.join(LAMPS)} are each on or off. All of this is true:",
                *(f"- {statement.text}" for statement in STATEMENTS),
                "\nWhich lamps are on?",
            ]
        ),
        form="the letters of the lamps that are on, in alphabetical order, without separators",
        solve=lambda: the_only(solutions(LAMPS, STATEMENTS)),
        # The last statement overlooked.
        mistake=lambda: next(
            state
            for state in solutions(LAMPS, STATEMENTS[:-1])
            if state not in solutions(LAMPS, STATEMENTS)
        ),
    )
)

CASES = (BOOLEAN_CONSTRAINTS,)
