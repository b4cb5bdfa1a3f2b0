"""Watch a gateway that is up: its death in milliseconds, and why a request to it failed."""

from collections.abc import Callable

from orchestrator.events import Exited, Trouble
from orchestrator.lifecycle import Machine, Started


class Watcher:
    """Watches one gateway from a thread of its own.

    Args:
        machine: The ports.
        started: From ``starting.start``; the watcher does not close ``started.held``.
        on_exit: Called once, in the watcher's thread, when the gateway ends unasked.
    """

    def __init__(
        self, machine: Machine, started: Started, on_exit: Callable[[Exited], None]
    ) -> None:
        raise NotImplementedError

    def exited(self) -> Exited | None:
        """Return how it ended, once it has. Costs nothing."""
        raise NotImplementedError

    def explain(self, local_port: int | None) -> Trouble | None:
        """Say what is wrong with the gateway; ``None`` = it is fine, the failure is another's.

        Args:
            local_port: Of the connection that failed, when it may still be open.
        """
        raise NotImplementedError

    def expect_end(self) -> None:
        """Say that we are about to stop it: its end is no incident any more."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop watching."""
        raise NotImplementedError
