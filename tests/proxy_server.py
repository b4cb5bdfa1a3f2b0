"""A proxy in the event loop of the test: CONNECT, forwarding, SOCKS5; plain or itself over TLS."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

Refusal = Literal["407", "garbage", "close", "socks", "password"]


@dataclass
class ProxyServer:
    """What it was asked, and by whom."""

    refusal: Refusal | None = None
    port: int = 0
    heads: list[bytes] = field(default_factory=list)
    """First lines and headers of what came in HTTP."""
    names: list[tuple[str, int]] = field(default_factory=list)
    """Hosts that SOCKS clients asked for."""
    credentials: list[bytes] = field(default_factory=list)
    serving: set["asyncio.Task[None]"] = field(default_factory=set)
    hosts: dict[str, str] = field(default_factory=dict)
    """Name → address: what only the proxy can look up."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self.serving.add(task)
        try:
            first = await reader.readexactly(1)
            if first == b"\x05":
                await self._socks(reader, writer)
            else:
                await self._http(first, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _http(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = first + await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        if self.refusal == "close":
            return
        if self.refusal is not None:
            said = b"HTTP/1.1 407 Proxy Authentication Required" if self.refusal == "407" else b"?"
            writer.write(said + b"\r\n\r\n")
            await writer.drain()
            return
        method, target, _ = head.split(b"\r\n")[0].split(b" ")
        if method == b"CONNECT":
            host, _, port = target.decode().rpartition(":")
            there = await self._reach(host, int(port))
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            parts = urlsplit(target.decode())
            there = await self._reach(parts.hostname or "", parts.port or 80)
            there[1].write(head)
        await _joined((reader, writer), there)

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        if self.refusal == "garbage":
            writer.write(b"HT")
            return
        wants = self.refusal == "password" or 2 in methods
        if wants and 2 not in methods:
            writer.write(b"\x05\xff")
            return
        writer.write(b"\x05\x02" if wants else b"\x05\x00")
        if wants:
            await reader.readexactly(1)
            user = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            self.credentials.append(user + b":" + password)
            writer.write(b"\x01\x01" if self.refusal == "password" else b"\x01\x00")
            if self.refusal == "password":
                return
        await reader.readexactly(4)
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.names.append((host, port))
        if self.refusal == "socks":
            writer.write(b"\x05\x05\x00\x01" + bytes(6))
            return
        there = await self._reach(host, port)
        bound = b"\x03\x04name" if self.hosts else b"\x01" + bytes(4)
        writer.write(b"\x05\x00\x00" + bound + bytes(2))
        await _joined((reader, writer), there)

    async def _reach(
        self, host: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self.hosts.get(host, host), port)


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _joined(here: Ends, there: Ends) -> None:
    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(pump(here[0], there[1]))
            group.create_task(pump(there[0], here[1]))
    finally:
        there[1].close()


@asynccontextmanager
async def proxy_server(
    *, refusal: Refusal | None = None, tls: ssl.SSLContext | None = None, **hosts: str
) -> AsyncIterator[ProxyServer]:
    """Run a proxy on a free port of the loopback address."""
    proxy = ProxyServer(refusal=refusal, hosts={n.replace("_", "."): a for n, a in hosts.items()})
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, ssl=tls)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        for task in proxy.serving:
            task.cancel()
        if proxy.serving:
            await asyncio.wait(proxy.serving)
        await listener.wait_closed()
