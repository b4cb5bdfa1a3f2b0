"""What is different for a command that runs another one and passes its status on."""

from collections.abc import Sequence
from pathlib import Path

import click

from bench.model.record import Value


class Manners(Value, frozen=True, kw_only=True):
    """A command class may carry one as its attribute ``manners``."""

    own_failure: int | None = None
    """Exit code for whatever goes wrong in us; ``None`` = each class has its own."""
    own_failure_with: str | None = None
    """Only where this flag was typed; ``None`` = always."""
    json_goes_to_file: bool = False
    """`--json` takes a path: stdout belongs to the other command."""

    def failure(self, own: Sequence[str]) -> int | None:
        """Return the exit code for whatever goes wrong in us; ``None`` = each class has its own.

        Args:
            own: What was typed.
        """
        is_meant = self.own_failure_with is None or self.own_failure_with in own
        return self.own_failure if is_meant else None


USUAL = Manners()


def manners_of(command: click.Command | None) -> Manners:
    """Return how a command behaves."""
    found = getattr(command, "manners", USUAL)
    return found if isinstance(found, Manners) else USUAL


def json_file(manners: Manners, own: Sequence[str]) -> Path | None:
    """Return where the object goes; ``None`` = to stdout, or it was not asked for.

    Args:
        manners: Of the command.
        own: What was typed, up to `--`.
    """
    if not manners.json_goes_to_file:
        return None
    for place, word in enumerate(own):
        if word == "--json" and place + 1 < len(own):
            return Path(own[place + 1])
        if word.startswith("--json="):
            return Path(word.removeprefix("--json="))
    return None
