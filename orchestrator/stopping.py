"""Stop one gateway by identity, and prove that nothing of it is left."""

from orchestrator.lifecycle import Machine, Stopped
from orchestrator.ports import Held
from orchestrator.records import Instance


def stop(
    machine: Machine, instance: Instance, *, grace_s: float | None = None, held: Held | None = None
) -> Stopped:
    """Stop the gateway of that name; one that is down already is a success.

    Args:
        machine: The ports.
        instance: Which one.
        grace_s: Between SIGTERM and SIGKILL; ``None`` = as its record says.
        held: From ``Started``, when the caller has it: its exit status is known longer.

    Raises:
        NotVerified: The process may not be ours; nothing was signalled.
        NotStopped: Something survived; the record is kept.
        StartUnderWay: Another command starts or stops it.
    """
    raise NotImplementedError
