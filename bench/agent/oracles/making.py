"""Turns inputs and a solver into checks."""

from collections.abc import Callable, Iterable

from bench.agent.task import Expectation, Json, ProbeCheck


def calls(
    probe: str, inputs: Iterable[Json], expect: Callable[[Json], Expectation]
) -> tuple[ProbeCheck, ...]:
    """Return a check for each input: ``probe`` is called with it, ``expect`` knows the answer."""
    return tuple(
        ProbeCheck(id=f"{probe}-{number:02}", probe=probe, input=given, expects=expect(given))
        for number, given in enumerate(inputs, start=1)
    )
