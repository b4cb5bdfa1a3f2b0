"""Words over a pair of connected sockets: each behind its length in four bytes."""

import asyncio
import struct

_LENGTH = struct.Struct("!I")
LONGEST = 512 * 1024 * 1024
"""Bytes: a plan with a trace of a million arrivals is some 20 MB."""


async def read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """Return the next word; ``None`` when the other side is gone, also in the middle of one."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return await reader.readexactly(length) if length <= LONGEST else None
    except (asyncio.IncompleteReadError, OSError):
        return None


def framed(word: bytes) -> bytes:
    """Return a word as it is sent."""
    return _LENGTH.pack(len(word)) + word
