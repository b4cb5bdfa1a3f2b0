"""``javascript_trace``: what a short program prints; its traps are remainder, closure and sort."""

from collections.abc import Callable
from math import fmod

from bench.cases.problem import Problem, problem_case

ROUNDS, DIVISOR = 6, 23

PROGRAM = f"""\
const seen = [];
const later = [];
let total = 5;
for (var i = 0; i < {ROUNDS}; i++) {{
  total = (total * 4 - 9 * i) % {DIVISOR};
  if (total < 0) {{
    later.push(() => i + total);
    total = -total;
    continue;
  }}
  seen.push(total);
}}
for (const value of later) {{
  seen.push(value());
}}
seen.sort();
console.log(seen.join(":"));"""

Remainder = Callable[[int, int], int]


def truncated_remainder(value: int, divisor: int) -> int:
    """Return JavaScript's ``%``: the result has the sign of ``value``."""
    return int(fmod(value, divisor))


def printed(
    *, remainder: Remainder = truncated_remainder, sort_key: Callable[[int], object] = str
) -> str:
    """Return what the program prints.

    Args:
        remainder: How ``%`` works.
        sort_key: How ``sort`` orders: without a function, JavaScript compares values as text.
    """
    seen: list[int] = []
    deferred, total = 0, 5
    for i in range(ROUNDS):
        total = remainder(total * 4 - 9 * i, DIVISOR)
        if total < 0:
            deferred += 1
            total = -total
        else:
            seen.append(total)
    # A variable of `var` is one for all rounds: each function sees it, and `total`, as they end.
    seen += [ROUNDS + total] * deferred
    return ":".join(map(str, sorted(seen, key=sort_key)))  # type: ignore[arg-type] # any order


JAVASCRIPT_TRACE = problem_case(
    Problem(
        id="javascript_trace",
        name="JavaScript trace",
        category="code",
        dimension="program tracing",
        difficulty="hard",
        description="says what a short JavaScript program prints",
        question=f"What does this JavaScript program print?\n\n```js\n{PROGRAM}\n```",
        form="the printed line",
        solve=printed,
        # Sorted as numbers.
        mistake=lambda: printed(sort_key=int),
    )
)

CASES = (JAVASCRIPT_TRACE,)
