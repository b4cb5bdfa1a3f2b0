"""Opens a connection in its phases: name, TCP, TLS; each a duration, each with its own error."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, cast

from bench.client.endpoint import Address
from bench.client.exchange import EndCode, Phases
from bench.client.gauge import Gauge
from bench.client.line import Line
from bench.client.outlook import Outlook
from bench.client.stamped import StampedTransport, ask_for_stamps
from bench.clock import WallOffset
from bench.endpoint import Reach

SocketAddress = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
LookUp = Callable[[str, int], Awaitable[list[tuple[Any, ...]]]]
"""Host and port → what ``socket.getaddrinfo`` returns."""
_NEXT_ADDRESS_S = 2.0
"""How long one of several addresses of a name may stay silent before the next is tried."""


class DialFailed(Exception):
    """No connection was made."""

    def __init__(self, code: EndCode, message: str) -> None:
        super().__init__(message)
        self.code: EndCode = code
        self.message = message


async def look_up(host: str, port: int) -> list[tuple[Any, ...]]:
    """Ask this machine's resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where connections are opened to."""

    address: Address
    tls: ssl.SSLContext | None
    """``None`` = plain http."""
    reach: Reach | None
    """What the host may turn out to be; ``None`` = anything."""
    look_up: LookUp


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """What is noted of connections besides what they carry."""

    now_ns: Callable[[], int]
    gauge: Gauge
    outlook: Outlook
    wall: WallOffset | None
    """``None`` = reads are stamped by the event loop: the system or the clock has no better."""


class Dialler:
    """Opens connections to one address."""

    def __init__(self, destination: Destination, watching: Watching) -> None:
        self._address = address = destination.address
        self._tls = destination.tls
        self._reach = destination.reach
        self._look_up = destination.look_up
        self._watching = watching
        self._now_ns = watching.now_ns
        self._where = f"{address.host}:{address.port}"

    async def dial(self, phases: Phases, *, timeout_s: float) -> Line:
        """Open a connection.

        Args:
            phases: Filled in as the phases end, also when a later one fails.
            timeout_s: For all phases together.

        Raises:
            DialFailed: With its error code.
        """
        try:
            async with asyncio.timeout(timeout_s):
                found = await self._resolve(phases)
                began = self._now_ns()
                sock = await self._connect(found)
                phases.connect_ns = self._now_ns() - began
                self._watching.gauge.opened += 1
                self._watching.outlook.connected(_peer(sock), phases.connect_ns)
                return await self._open(sock, phases)
        except TimeoutError as error:
            message = f"no connection to {self._where} within {timeout_s:.1f} s"
            raise DialFailed("connect_timeout", message) from error

    async def _resolve(self, phases: Phases) -> list[tuple[socket.AddressFamily, SocketAddress]]:
        address = self._address
        began = self._now_ns()
        try:
            infos = await self._look_up(address.host, address.port)
        except (OSError, UnicodeError) as error:
            message = f"the name `{address.host}` was not found: {_reason(error)}"
            raise DialFailed("dns_error", message) from error
        if not _is_ip(address.host):
            phases.dns_ns = self._now_ns() - began
        return self._judged([(family, sockaddr) for family, _, _, _, sockaddr in infos])

    def _judged(
        self, found: list[tuple[socket.AddressFamily, SocketAddress]]
    ) -> list[tuple[socket.AddressFamily, SocketAddress]]:
        """Leave out what the host was not when the key was let go there: a name can change."""
        reach = self._reach
        if reach is None:
            return found
        allowed = [one for one in found if reach.allows(str(one[1][0]))]
        if found and not allowed:
            here, there = "this machine", "another machine"
            was, is_now = (here, there) if reach.stays else (there, here)
            message = (
                f"`{self._address.host}` was {was} when it was looked up first and is "
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
                failed = error
        raise failed or DialFailed("dns_error", f"`{self._address.host}` has no address")

    async def _connect_one(
        self, family: socket.AddressFamily, sockaddr: SocketAddress, patience_s: float | None
    ) -> socket.socket:
        with ExitStack() as stack:
            sock = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            sock.settimeout(0)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with _told_apart(self._where):
                async with asyncio.timeout(patience_s):
                    await asyncio.get_running_loop().sock_connect(sock, sockaddr)
            stack.pop_all()
            return sock

    async def _open(self, sock: socket.socket, phases: Phases) -> Line:
        wall = self._watching.wall
        if self._tls is None and wall is not None and ask_for_stamps(sock):
            line = Line(self._now_ns)
            StampedTransport(sock, line, wall=wall, now_ns=self._now_ns, gauge=self._watching.gauge)
            return line
        host = self._address.host if self._tls else None
        began = self._now_ns()
        with ExitStack() as stack:
            stack.enter_context(sock)
            with _told_apart(self._where):
                _, protocol = await asyncio.get_running_loop().create_connection(
                    self._new_line, sock=sock, ssl=self._tls, server_hostname=host
                )
            stack.pop_all()
        if self._tls:
            phases.tls_ns = self._now_ns() - began
        return cast(Line, protocol)

    def _new_line(self) -> asyncio.Protocol:
        return cast(asyncio.Protocol, Line(self._now_ns))


@contextmanager
def _told_apart(where: str) -> Iterator[None]:
    """Map what the operating system and OpenSSL raise to error codes."""
    try:
        yield
    except ssl.SSLError as error:
        message = f"no TLS connection to {where}: {_reason(error)}"
        raise DialFailed("tls_error", message) from error
    except ConnectionRefusedError as error:
        raise DialFailed("connect_refused", f"{where} refused the connection") from error
    except ConnectionError as error:
        message = f"{where} broke the connection off: {_reason(error)}"
        raise DialFailed("connect_reset", message) from error
    except OSError as error:
        # TimeoutError is one too: the system's own, or the patience for one of several addresses.
        if isinstance(error, TimeoutError):
            raise DialFailed("connect_timeout", f"{where} did not answer") from error
        message = f"no connection to {where}: {_reason(error)}"
        raise DialFailed("connect_failed", message) from error


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


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
