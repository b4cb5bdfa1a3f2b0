"""A connection of which it is not settled yet what it speaks: after TLS, or before a tunnel."""

import asyncio
from typing import cast

from bench.client.carrier import ByteTransport, Carrier

_HEAD_END = b"\r\n\r\n"
_MOST_HEAD = 64 * 1024


class Waiting:
    """Holds what arrives until it is handed over. An ``asyncio.Protocol`` by shape."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._is_over = False
        self._error: Exception | None = None
        self._more = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Nothing is to be said yet."""

    def data_received(self, data: bytes) -> None:
        """Hold it."""
        self._held += data
        self._more.set()

    def eof_received(self) -> bool:
        """Take the end of file; the transport then closes itself."""
        self._is_over = True
        self._more.set()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Take that the connection is gone."""
        self._is_over, self._error = True, exc
        self._more.set()

    async def head(self) -> bytes:
        """Return what was answered up to an empty line; as much of it as came before the end."""
        while _HEAD_END not in self._held and not self._is_over and len(self._held) < _MOST_HEAD:
            self._more.clear()
            await self._more.wait()
        head, end, rest = bytes(self._held).partition(_HEAD_END)
        self._held = bytearray(rest)
        return head + end

    def hand_over(self, transport: asyncio.Transport, line: Carrier) -> None:
        """Let ``line`` have the connection, with all that happened to it by now."""
        transport.set_protocol(cast(asyncio.Protocol, line))
        line.connection_made(cast(ByteTransport, transport))
        if self._held:
            line.data_received(bytes(self._held))
        if self._is_over:
            line.connection_lost(self._error)
