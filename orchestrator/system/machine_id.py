"""Which machine this is, as a hash that stays the same over restarts.

Only a record's origin is told by it, never a process: two that look the same here may be two
machines all the same, so whatever could make them look different is part of it.
"""

import ctypes
import os
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

LINUX_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
# machine-id(5): 32 lower-case hex digits; "uninitialized" while a first boot goes on.
_LINUX_ID = re.compile(r"[0-9a-f]{32}")
_NOBODY = {"0" * 32, "f" * 32}
_UUID_BYTES = 16
_SHOWN = 16
_WAIT_S = 1
# Boot times move when the clock is set: another one is no proof of another boot.
_MOVING_BOOT_ID = "boottime:"


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def linux_machine_id(
    files: Iterable[Path] = LINUX_FILES, node: str = os.uname().nodename
) -> str | None:
    """Return a hash of machine id and host name; ``None`` = the machine has no id.

    Copies of one disk image (virtual machines, nodes of a cluster that boot over the network) often
    have the same machine id and the same home folder; their host names differ.

    Args:
        files: Where the id may be; the first that holds one counts.
        node: Host name of this machine or container.
    """
    for file in files:
        try:
            text = file.read_text().strip()
        except (OSError, UnicodeDecodeError):  # not there, or not for this user
            continue
        if _LINUX_ID.fullmatch(text) and text not in _NOBODY:
            return _hashed(f"{text}\0{node}")
    return None


def mac_machine_id(library: Any, boot_id: str) -> str | None:  # noqa: ANN401  # a C library
    """Return a hash of the hardware's UUID (``gethostuuid(2)``); ``None`` = it is not told.

    Not of ``kern.uuid``: that is the kernel's, the same on every Mac with the same macOS.

    Args:
        library: Holds ``gethostuuid``.
        boot_id: Of this boot; where it can't tell boots apart, there is no answer.
    """
    if boot_id.startswith(_MOVING_BOOT_ID):
        return None
    buffer = ctypes.create_string_buffer(_UUID_BYTES)
    if library.gethostuuid(buffer, ctypes.byref(_Timespec(_WAIT_S, 0))) or not any(buffer.raw):
        return None
    return _hashed(buffer.raw.hex())


def _hashed(identifier: str) -> str:
    # Of a machine id, machine-id(5) wants nothing but a hash of our own to be passed on.
    return sha256(f"gateway-bench\0{identifier}".encode()).hexdigest()[:_SHOWN]
