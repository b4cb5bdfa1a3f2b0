"""The listening server: opens, serves, drains on the first signal, stops at the second (IO)."""

import asyncio
import contextlib
import errno
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from bench.simulator import answering
from bench.simulator.agenda import Agenda
from bench.simulator.connection import Connection
from bench.simulator.errors import AddressUnusable, PortTaken
from bench.simulator.events import error_body
from bench.simulator.exchange import Exchange, Request, RequestRecord
from bench.simulator.request_log import RequestLog
from bench.simulator.service import Gateway

_BACKLOG = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where to listen; port 0 = a free one."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The address as a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


class Server:
    """Serves one gateway on one address."""

    def __init__(self, gateway: Gateway, log: RequestLog) -> None:
        self._gateway = gateway
        self._log = log
        self._live: set[Connection] = set()
        self._connections = 0
        self._signals: list[int] = []
        self._changed = asyncio.Event()

    # ---- connection.Host -------------------------------------------------------------------------

    def handle(self, request: Request) -> Exchange:
        """Return what to send for a request."""
        return self._gateway.handle(request)

    def refuse(self, request: Request, refusal: tuple[int, str, str]) -> Exchange:
        """Return what to send for bytes that are no request."""
        status, code, message = refusal
        record = self._gateway.new_record(request)
        body = error_body(code, message, kind="invalid_request_error")
        return answering.fixed(record, status, body, [])

    def log(self, record: RequestRecord) -> None:
        """Write a record once the loop has nothing to send."""
        asyncio.get_running_loop().call_soon(self._log.write, record)

    def entered(self, connection: Connection) -> None:
        """Take note of an open connection."""
        self._live.add(connection)

    def left(self, connection: Connection) -> None:
        """Take note of a connection's end."""
        self._live.discard(connection)
        if self._signals:
            self._changed.set()

    # ---- life ------------------------------------------------------------------------------------

    async def serve(
        self, address: Address, *, drain_s: float, ready: Callable[[Address], None]
    ) -> int:
        """Serve until signalled.

        Args:
            address: Where to listen.
            drain_s: Longest wait for answers on their way, in seconds, after the first signal.
            ready: Called with the address in use once connections are accepted.

        Returns:
            Exit status: 0 after draining, 128 + signal if a second one cut it short.

        Raises:
            PortTaken: Somebody listens there.
            AddressUnusable: The host is none of ours, or the port needs a privilege.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal, number)
        listener = await self._listen(loop, address)
        ready(Address(host=address.host, port=listener.sockets[0].getsockname()[1]))
        await self._changed.wait()
        listener.close()
        return await self._drain(drain_s)

    async def _listen(self, loop: asyncio.AbstractEventLoop, address: Address) -> asyncio.Server:
        agenda = Agenda(loop)
        try:
            return await loop.create_server(
                lambda: cast(asyncio.Protocol, self._accept(loop, agenda)),
                address.host,
                address.port,
                backlog=_BACKLOG,
            )
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(address.host, address.port) from error
            reason = error.strerror or str(error)
            raise AddressUnusable(address.host, address.port, reason) from error

    def _accept(self, loop: asyncio.AbstractEventLoop, agenda: Agenda) -> Connection:
        self._connections += 1
        return Connection(self, loop, agenda, number=self._connections)

    def _on_signal(self, number: int) -> None:
        self._signals.append(number)
        self._changed.set()

    async def _drain(self, drain_s: float) -> int:
        for connection in tuple(self._live):
            connection.drain()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(drain_s):
                while self._live and len(self._signals) == 1:
                    self._changed.clear()
                    await self._changed.wait()
        for connection in tuple(self._live):
            connection.stop()
        await asyncio.sleep(0)  # connection_lost has its turn, …
        await asyncio.sleep(0)  # … then the log
        return 0 if len(self._signals) == 1 else 128 + self._signals[1]
