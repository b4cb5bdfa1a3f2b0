"""Turns inputs and a solver into checks."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from bench.agent.task import Expectation, Json, ProbeCheck
from bench.seeds import SeededStream

_Item = TypeVar("_Item")


def calls(
    probe: str, inputs: Iterable[Json], expect: Callable[[Json], Expectation]
) -> tuple[ProbeCheck, ...]:
    """Return a check for each input: ``probe`` is called with it, ``expect`` knows the answer."""
    return tuple(
        ProbeCheck(id=f"{probe}-{number:02}", probe=probe, input=given, expects=expect(given))
        for number, given in enumerate(inputs, start=1)
    )


def several(draw: SeededStream, items: Sequence[_Item], count: int) -> list[_Item]:
    """Return ``count`` of ``items``, each drawn from all of them."""
    return [draw.pick(items) for _ in range(count)]
