"""Asking a person before money is spent."""

from bench.cli.talk import confirmed, is_interactive
from bench.errors import Refused
from bench.prepare.consent import consent
from bench.prepare.estimate import Estimate


def agree(
    bounds: Estimate, *, max_cost: float | None, allow_unknown_cost: bool, said_yes: bool
) -> None:
    """Go on only with a person's yes to a paid run.

    Raises:
        Refused: It was not given.
    """
    answer = consent(
        bounds,
        max_cost=max_cost,
        allow_unknown_cost=allow_unknown_cost,
        said_yes=said_yes,
        is_terminal=is_interactive(),
    )
    if answer == "ask" and not confirmed("Go on?"):
        raise Refused("not started: the answer was no")
