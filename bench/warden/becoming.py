"""The last steps before the hostile program: limits, no rights, no calls, no way back."""

import os
import resource
import signal

from bench.warden import kernel, room
from bench.warden.filters import call_filter
from bench.warden.landlock import beside, enclose
from bench.warden.order import MEGA, Order
from bench.warden.seatbelt import PROGRAM, profile

_OPEN_FILES = 256
_LIBRARY_SIGNALS = (32, 33)
_UNUSED_DATA = 256 * MEGA
"""What Node reserves for its threads and may write to, but never touches."""
_HIGHEST_DESCRIPTOR = 1 << 20
_OURS = 2
"""Processes of ours that the kernel counts with the program's: this side, and who waits for it."""


def become(order: Order, folder: str, descriptors: tuple[int, int, int, int]) -> None:
    """Turn this process into the program.

    Args:
        order: What was asked.
        folder: Working directory of walls that bring none of their own.
        descriptors: Standard streams, and where the caller writes a fault; that one closes itself.

    Raises:
        OSError: A step was refused; nothing hostile has run.
    """
    os.setsid()
    *streams, fault = descriptors
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    os.closerange(len(streams), fault)
    os.closerange(fault + 1, _HIGHEST_DESCRIPTOR)
    for limit, value in limits(order).items():
        _, most = resource.getrlimit(limit)
        allowed = value if most == resource.RLIM_INFINITY else min(value, most)
        hard = allowed + 1 if limit == resource.RLIMIT_CPU and allowed == value else allowed
        resource.setrlimit(limit, (allowed, hard))
    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP, *_LIBRARY_SIGNALS}:
        signal.signal(number, signal.SIG_DFL)
    if order.is_alone:
        kernel.die_with_parent(signal.SIGKILL)
    if order.walls == "seatbelt":
        text = profile(
            executable=order.argv[0],
            looked_at=order.looked_at,
            covers=order.covers,
            folder=folder,
        )
        words = [PROGRAM, "-p", text, *order.argv]
        os.execve(PROGRAM, words, order.environment)  # noqa: S606 - that is what this is for
    kernel.drop_capabilities()
    kernel.gain_nothing()
    looked_at, listed = beside(order.looked_at, order.covers) if order.is_alone else (["/"], [])
    version = enclose(
        looked_at=looked_at,
        listed=listed,
        owned=[folder] if order.is_alone else list(room.OWNED),
        devices=list(room.DEVICES),
    )
    if order.is_alone and version == 0:
        raise OSError("this kernel has no Landlock")
    kernel.filter_calls(
        call_filter(os.uname().machine, program=os.getpid(), is_alone=order.is_alone)
    )
    os.execve(order.argv[0], order.argv, order.environment)  # noqa: S606 - that is what this is for


def limits(order: Order) -> dict[int, int]:
    """Return the limits of one process, by their number."""
    found = {
        resource.RLIMIT_CPU: max(1, int(order.cpu_s + 0.999)),
        resource.RLIMIT_FSIZE: order.file_bytes,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
    }
    if not order.is_alone or order.user is not None:
        found[resource.RLIMIT_NPROC] = order.processes + _OURS + 1  # the one too many is seen
    if order.walls == "seatbelt":  # macOS keeps no limit of memory
        return found
    if order.memory_limit == "AS":
        found[resource.RLIMIT_AS] = order.memory_bytes
    elif order.memory_limit == "DATA":
        found[resource.RLIMIT_DATA] = order.memory_bytes + _UNUSED_DATA
    return found
