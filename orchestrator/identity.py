"""Who a process is: boot, PID namespace, PID and start ticks. Never a name, folder or port.

A PID alone is reused within minutes on a busy machine. The start ticks of Linux count from boot
and never move; a wall-clock start time moves with the clock and is not stored.
"""

from enum import StrEnum
from typing import Annotated

import msgspec

Pid = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
"""0 and below mean groups of processes to the kernel: a record that holds one is no record."""


class Identity(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One process, for as long as the machine runs."""

    boot_id: str
    """Of the kernel (``/proc/sys/kernel/random/boot_id``; macOS ``kern.bootsessionuuid``)."""
    pid_namespace: str | None
    """Inode of the PID namespace; ``None`` where the system has none (macOS)."""
    pid: Pid
    start_ticks: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
    """Linux: clock ticks since boot (``/proc/PID/stat`` field 22). macOS: microseconds since the
    epoch as the kernel noted them at the start of the process."""


class Match(StrEnum):
    """Answer to "is this the recorded process?"."""

    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


def matches(recorded: Identity, seen: Identity | None) -> Match:
    """Say whether ``seen`` is the recorded process.

    Args:
        recorded: What was written down at the start.
        seen: What is there now under the same PID; ``None`` when it could not be read.

    Returns:
        ``UNKNOWN`` across boots and PID namespaces: the same folder may be shared by machines or
        containers, and the process may well live over there.
    """
    if seen is None:
        return Match.UNKNOWN
    if (recorded.boot_id, recorded.pid_namespace) != (seen.boot_id, seen.pid_namespace):
        return Match.UNKNOWN
    if (recorded.pid, recorded.start_ticks) != (seen.pid, seen.start_ticks):
        return Match.DIFFERENT
    return Match.SAME
