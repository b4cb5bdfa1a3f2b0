"""Opens a connection in its phases: name, TCP, proxy, TLS; each a duration, each with its own error.

Through a proxy the name and the TCP connection are the proxy's, and what fails up to its tunnel is
``proxy_error``: nobody has seen the endpoint then.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

from bench.client.arrivals import Arrivals
from bench.client.carrier import Carrier
from bench.client.dial_failure import DialFailed, own_limit, reason, told_apart
from bench.client.endpoint import Address, HttpChoice
from bench.client.exchange import Phases
from bench.client.gauge import Gauge
from bench.client.line import Line
from bench.client.outlook import Outlook
from bench.client.stamped import StampedTransport, ask_for_stamps
from bench.client.tunnel import check_connected, connect_request
from bench.client.tunnelling import ask_through
from bench.client.waiting import Waiting
from bench.clock import WallOffset
from bench.endpoint import Reach
from bench.model.record import Value
from bench.proxies import Proxy

SocketAddress = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
LookUp = Callable[[str, int], Awaitable[list[tuple[Any, ...]]]]
"""Host and port → what ``socket.getaddrinfo`` returns."""
_NEXT_ADDRESS_S = 2.0
"""How long one of several addresses of a name may stay silent before the next is tried."""


async def look_up(host: str, port: int) -> list[tuple[Any, ...]]:
    """Ask this machine's resolver."""
    return list(await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM))


class Destination(Value, frozen=True, kw_only=True):
    """Where connections are opened to."""

    address: Address
    tls: ssl.SSLContext | None
    """``None`` = plain http."""
    http_version: HttpChoice = "1.1"
    proxy: Proxy | None = None
    proxy_tls: ssl.SSLContext | None = None
    """For a proxy that is itself spoken to over TLS."""
    reach: Reach | None
    """What the host that is connected to may turn out to be; ``None`` = anything."""
    look_up: LookUp

    @property
    def first_hop(self) -> tuple[str, int]:
        """Host and port that are connected to."""
        hop = self.proxy or self.address
        return hop.host, hop.port

    @property
    def is_tunnelled(self) -> bool:
        """A proxy hands the bytes through unread; else it is one that reads and passes on."""
        proxy = self.proxy
        return proxy is not None and (self.tls is not None or proxy.scheme == "socks5")


class Watching(Value, frozen=True, kw_only=True):
    """What is noted of connections besides what they carry."""

    now_ns: Callable[[], int]
    gauge: Gauge
    outlook: Outlook
    arrivals: Arrivals
    wall: WallOffset | None
    """``None`` = reads are stamped by the event loop: the system or the clock has no better."""


_ALPN: dict[HttpChoice, list[str]] = {
    "1.1": ["http/1.1"],
    "2": ["h2"],
    "auto": ["h2", "http/1.1"],
}


class Dialler:
    """Opens connections to one address."""

    def __init__(self, destination: Destination, watching: Watching) -> None:
        self._to = destination
        self._host, self._port = destination.first_hop
        self._watching = watching
        self._now_ns = watching.now_ns
        self._where = f"{self._host}:{self._port}"
        if destination.tls is not None:
            destination.tls.set_alpn_protocols(_ALPN[destination.http_version])

    async def dial(self, phases: Phases, *, timeout_s: float) -> Carrier:
        """Open a connection.

        Args:
            phases: Filled in as the phases end, also when a later one fails.
            timeout_s: For all phases together.

        Raises:
            DialFailed: With its error code.
        """
        try:
            async with asyncio.timeout(timeout_s):
                with self._of_the_proxy():
                    found = await self._resolve(phases)
                    began = self._now_ns()
                    sock = await self._connect(found)
                phases.connect_ns = self._now_ns() - began
                self._watching.gauge.opened += 1
                line = await self._open(sock, phases)
        except TimeoutError as error:
            message = f"no connection to {self._where} within {timeout_s:.1f} s"
            raise DialFailed("connect_timeout", message) from error
        self._watching.outlook.connected(_peer(sock), phases)
        return line

    @contextmanager
    def _of_the_proxy(self) -> Iterator[None]:
        """Tell what happens before the endpoint is reached as the proxy's."""
        try:
            yield
        except DialFailed as failed:
            if self._to.proxy is None or failed.code == "client_limit":
                raise
            message = f"the proxy {self._to.proxy.shown} can't be used: {failed.message}"
            raise DialFailed("proxy_error", message) from failed

    async def _resolve(self, phases: Phases) -> list[tuple[socket.AddressFamily, SocketAddress]]:
        began = self._now_ns()
        try:
            infos = await self._to.look_up(self._host, self._port)
        except (OSError, UnicodeError) as error:
            if isinstance(error, OSError) and (limit := own_limit(error)) is not None:
                raise limit from error
            message = f"the name `{self._host}` was not found: {reason(error)}"
            raise DialFailed("dns_error", message) from error
        if not _is_ip(self._host):
            phases.dns_ns = self._now_ns() - began
        return self._judged([(family, sockaddr) for family, _, _, _, sockaddr in infos])

    def _judged(
        self, found: list[tuple[socket.AddressFamily, SocketAddress]]
    ) -> list[tuple[socket.AddressFamily, SocketAddress]]:
        """Leave out what the host was not when the key was let go there: a name can change."""
        reach = self._to.reach
        if reach is None:
            return found
        allowed = [one for one in found if reach.allows(str(one[1][0]))]
        if found and not allowed:
            here, there = "this machine", "another machine"
            was, is_now = (here, there) if reach.stays else (there, here)
            message = (
                f"`{self._host}` was {was} when it was looked up first and is "
                f"{is_now} ({found[0][1][0]}) now; nothing is sent there"
            )
            raise DialFailed("dns_error", message)
        return allowed

    async def _connect(
        self, found: list[tuple[socket.AddressFamily, SocketAddress]]
    ) -> socket.socket:
        failed: DialFailed | None = None
        for number, (family, sockaddr) in enumerate(found, start=1):
            patience = None if number == len(found) else _NEXT_ADDRESS_S
            try:
                return await self._connect_one(family, sockaddr, patience)
            except DialFailed as error:
                # A machine without IPv6 refuses those addresses itself: another one says more.
                if failed is None or error.code != "client_limit":
                    failed = error
        raise failed or DialFailed("dns_error", f"`{self._host}` has no address")

    async def _connect_one(
        self, family: socket.AddressFamily, sockaddr: SocketAddress, patience_s: float | None
    ) -> socket.socket:
        with ExitStack() as stack:
            with told_apart(self._where):
                sock = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
                sock.settimeout(0)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                async with asyncio.timeout(patience_s):
                    await asyncio.get_running_loop().sock_connect(sock, sockaddr)
            stack.pop_all()
            return sock

    async def _open(self, sock: socket.socket, phases: Phases) -> Carrier:
        """Go on from the TCP connection to one that takes requests; closes it when that fails."""
        with ExitStack() as stack:
            stack.enter_context(sock)
            proxy_tls = self._to.proxy_tls
            if self._to.is_tunnelled and proxy_tls is None:
                await self._tunnel(sock, phases)
            if self._to.tls is None and proxy_tls is None:
                with told_apart(self._where):  # the first line opens a poll of its own
                    line = await self._plain(sock)
            elif self._to.tls is None or not self._to.is_tunnelled or proxy_tls is None:
                line = await self._secured(sock, phases)
            else:
                line = await self._secured_twice(sock, phases)
            stack.pop_all()
        return line

    async def _tunnel(self, sock: socket.socket, phases: Phases) -> None:
        proxy, address, began = self._to.proxy, self._to.address, self._now_ns()
        if proxy is None:
            return
        with self._of_the_proxy(), told_apart(self._where):
            await ask_through(sock, proxy, address.host, address.port)
        phases.proxy_ns = self._now_ns() - began

    async def _plain(self, sock: socket.socket) -> Carrier:
        wall = self._watching.wall
        line = self._line(None)
        if wall is not None and ask_for_stamps(sock):
            watching = self._watching
            StampedTransport(
                sock,
                line,
                wall=wall,
                now_ns=self._now_ns,
                gauge=watching.gauge,
                arrivals=watching.arrivals,
            )
            return line
        await asyncio.get_running_loop().create_connection(
            lambda: cast(asyncio.Protocol, line), sock=sock
        )
        return line

    async def _secured(self, sock: socket.socket, phases: Phases) -> Carrier:
        """Speak TLS to the endpoint, or to the proxy that passes plain requests on."""
        began, waiting = self._now_ns(), Waiting()
        is_proxy = self._to.tls is None
        host = self._host if is_proxy else self._to.address.host
        with told_apart(self._where if is_proxy else self._endpoint):
            transport, _ = await asyncio.get_running_loop().create_connection(
                lambda: cast(asyncio.Protocol, waiting),
                sock=sock,
                ssl=self._to.proxy_tls if is_proxy else self._to.tls,
                server_hostname=host,
            )
        phases.tls_ns = self._now_ns() - began
        return self._handed_over(waiting, transport)

    async def _secured_twice(self, sock: socket.socket, phases: Phases) -> Carrier:
        """Speak TLS to the proxy, and inside it to the endpoint."""
        began, waiting, loop = self._now_ns(), Waiting(), asyncio.get_running_loop()
        proxy, address = self._to.proxy, self._to.address
        if proxy is None or self._to.tls is None:
            raise DialFailed("proxy_error", "there is no proxy to speak TLS to")
        with self._of_the_proxy(), told_apart(self._where):
            outer, _ = await loop.create_connection(
                lambda: cast(asyncio.Protocol, waiting),
                sock=sock,
                ssl=self._to.proxy_tls,
                server_hostname=self._host,
            )
        with ExitStack() as stack:
            stack.callback(outer.abort)
            with self._of_the_proxy(), told_apart(self._where):
                outer.write(connect_request(proxy, address.host, address.port))
                check_connected(await waiting.head())
            phases.proxy_ns = self._now_ns() - began
            began = self._now_ns()
            with told_apart(self._endpoint):
                transport = await loop.start_tls(
                    outer,
                    cast(asyncio.Protocol, waiting),
                    self._to.tls,
                    server_hostname=address.host,
                )
            phases.tls_ns = self._now_ns() - began
            if transport is None:  # as typed; it means that the connection is gone
                raise DialFailed("connect_reset", f"{self._where} broke the connection off")
            line = self._handed_over(waiting, transport)
            stack.pop_all()
        return line

    @property
    def _endpoint(self) -> str:
        return f"{self._to.address.host}:{self._to.address.port}"

    def _handed_over(self, waiting: Waiting, transport: asyncio.Transport) -> Carrier:
        tls = transport.get_extra_info("ssl_object")
        chosen = tls.selected_alpn_protocol()
        if self._to.http_version == "2" and chosen != "h2":
            transport.abort()
            message = f"{self._endpoint} does not offer HTTP/2"
            raise DialFailed("tls_error", message)
        self._watching.outlook.secured(tls.version() or "TLS")
        line = self._line(chosen)
        waiting.hand_over(transport, line)
        return line

    def _line(self, chosen: str | None) -> Carrier:
        """Return what speaks the chosen protocol; without TLS the one that was asked for."""
        is_second = chosen == "h2" or (self._to.tls is None and self._to.http_version == "2")
        if is_second:
            from bench.client.multiplexed import MultiplexedLine  # needs the extra `http2`

            return MultiplexedLine(self._now_ns)
        proxy = self._to.proxy
        is_forwarded = proxy is not None and not self._to.is_tunnelled
        shown = (proxy.authorization or "") if proxy is not None and is_forwarded else None
        return Line(self._now_ns, forwarded_by=shown)


def _peer(sock: socket.socket) -> str:
    try:
        return str(sock.getpeername()[0])
    except OSError:  # it is gone already; the request will say so
        return ""


def _is_ip(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return True
    return False
