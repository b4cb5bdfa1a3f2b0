"""Checks of `agentic_step_counter`: every step of a plan is carried out and counted here."""

from collections.abc import Callable
from itertools import pairwise

from bench.agent.comparing import quote
from bench.agent.oracles.making import calls
from bench.agent.task import Check, Expectation, Json, Judged
from bench.seeds import SeededStream

_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 20, 40, 300)


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(18, label="coding task")
    asked = [_shelf(draw, size) for size in _SIZES * 2]
    asked += [
        {"shelf": ["b", "a", "d", "c", None], "wanted": ["a", "b", "c", None, "d"]},
        {"shelf": ["a", "b", "c", None], "wanted": ["a", "b", "c", None]},
        {"shelf": ["b", "a", "c", None], "wanted": ["a", "b", None, "c"]},
    ]
    return calls("plan", asked, _expected)


def _shelf(draw: SeededStream, size: int) -> Json:
    labels: list[str | None] = [f"box {number}" for number in range(size - 1)]
    shelf = [*labels, None]
    wanted = list(shelf)
    shelf = draw.shuffled(shelf)
    if draw.below(100) < 50:  # noqa: PLR2004 - every other one has many boxes in place
        some = draw.sample(range(size), min(size, 4))
        for one, other in pairwise(some):
            wanted[one], wanted[other] = wanted[other], wanted[one]
        return {"shelf": [*labels, None], "wanted": wanted}
    return {"shelf": shelf, "wanted": wanted}


def _expected(given: Json) -> Expectation:
    least = _least_steps(given["shelf"], given["wanted"])
    return Judged(rule=f"right after {least} steps", judge=_judge(given, least))


def _least_steps(shelf: list[str | None], wanted: list[str | None]) -> int:
    """Return how many steps are needed at least.

    Each misplaced box moves once. A cycle of misplaced boxes that does not hold the free slot needs
    one step more: a box of it has to leave before any can come home.
    """
    home = {label: slot for slot, label in enumerate(wanted)}
    seen: set[int] = set()
    steps = 0
    for start in range(len(shelf)):
        cycle: list[int] = []
        slot = start
        while slot not in seen:
            seen.add(slot)
            cycle.append(slot)
            slot = home[shelf[slot]]
        if len(cycle) > 1:
            has_free = any(shelf[slot] is None for slot in cycle)
            steps += len(cycle) - 1 if has_free else len(cycle) + 1
    return steps


def _judge(given: Json, least: int) -> Callable[[Json], str | None]:
    def judge(steps: Json) -> str | None:
        if not isinstance(steps, list):
            return f"returned {quote(steps)}, no list of steps"
        slots = list(given["shelf"])
        for number, step in enumerate(steps, start=1):
            if number > least:
                return f"{len(steps)} steps, where {least} are enough"
            if not _carried_out(slots, step):
                return f"step {number} is impossible: {quote(step)}"
        return None if slots == given["wanted"] else "the boxes are not where they should be"

    return judge


def _carried_out(slots: list[str | None], step: Json) -> bool:
    match step:
        case [int(taken), int(free)] if not isinstance(taken, bool) and not isinstance(free, bool):
            fits = all(0 <= slot < len(slots) for slot in (taken, free))
            if not fits or slots[taken] is None or slots[free] is not None:
                return False
            slots[free], slots[taken] = slots[taken], None
            return True
    return False
