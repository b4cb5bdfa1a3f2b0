"""Start one gateway, renamed and detached, and prove that what answers is it."""

from collections.abc import Callable

from orchestrator.lifecycle import Launch, Machine, Started, StartRequest


def start(machine: Machine, request: StartRequest, launch_at: Callable[[int], Launch]) -> Started:
    """Start the gateway, or return the one that is up already.

    Args:
        machine: The ports.
        request: Which gateway is wanted.
        launch_at: Returns what to run on a given port; called again when another process won the
            race for a port that nobody fixed.

    Raises:
        NotStarted: One of its kinds; nothing of ours is left running.
        NotVerified: A record of the same name can't be told; nothing was started.
    """
    raise NotImplementedError
