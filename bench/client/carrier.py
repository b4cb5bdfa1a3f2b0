"""What the client needs of a connection, whichever HTTP it speaks."""

import asyncio
from typing import Any, Literal, Protocol

from bench.client.exchange import Exchange
from bench.client.request_text import Request


class ByteTransport(Protocol):
    """What a connection needs of a transport; asyncio's and ``StampedTransport`` have it."""

    def write(self, data: bytes) -> None: ...  # noqa: D102 - as in asyncio
    def abort(self) -> None: ...  # noqa: D102
    def is_closing(self) -> bool: ...  # noqa: D102
    def get_write_buffer_size(self) -> int: ...  # noqa: D102
    def set_write_buffer_limits(self, high: int | None = None) -> None: ...  # noqa: D102
    def get_extra_info(self, name: str) -> Any: ...  # noqa: ANN401, D102


class Carrier(Protocol):
    """One connection. An ``asyncio.Protocol`` by shape."""

    closed: "asyncio.Future[None]"
    """Done once the connection is gone."""
    stamped_by: Literal["kernel", "loop"]
    idle_since_ns: int
    """When its last exchange ended."""
    opened_ns: int
    settled: asyncio.Event
    """It is known how much it takes at a time."""
    local_port: int | None
    http_version: Literal["1.1", "2"]

    @property
    def is_open(self) -> bool:
        """Another exchange can be started, now or after the one under way."""
        ...

    @property
    def is_idle(self) -> bool:
        """No exchange is under way."""
        ...

    @property
    def room(self) -> int:
        """How many more exchanges it takes now."""
        ...

    async def carry(self, exchange: Exchange, request: Request) -> None:
        """Send ``request``; return when ``exchange`` is over."""
        ...

    def abort(self) -> None: ...  # noqa: D102 - as in asyncio
    def connection_made(self, transport: ByteTransport) -> None: ...  # noqa: D102
    def data_received(self, data: bytes) -> None: ...  # noqa: D102
    def keep(self, at_ns: int, data: bytes) -> bool:
        """Take what arrived at ``at_ns`` if it needs no look now; ``take`` has to otherwise."""
        ...

    def take(self, at_ns: int, data: bytes) -> None:
        """Take what arrived at ``at_ns``, and look at it."""
        ...

    def end(self, at_ns: int) -> None:
        """Take that the other side sent its last byte before ``at_ns``."""
        ...

    def eof_received(self) -> bool: ...  # noqa: D102
    def connection_lost(self, exc: Exception | None) -> None: ...  # noqa: D102
    def resume_writing(self) -> None: ...  # noqa: D102
