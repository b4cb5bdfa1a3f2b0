"""Asks a proxy, over a socket that is connected to it, to connect on."""

import asyncio
import socket
from contextlib import suppress

from bench.client.tunnel import ProxyRefused, check_connected, connect_request, socks_talk
from bench.proxies import Proxy

_MOST_HEAD = 64 * 1024


async def ask_through(sock: socket.socket, proxy: Proxy, host: str, port: int) -> None:
    """Return once ``proxy`` hands the bytes on to ``host`` and ``port``.

    Raises:
        ProxyRefused: It does not.
        OSError: The connection to it broke.
    """
    loop = asyncio.get_running_loop()
    if proxy.scheme != "socks5":
        await loop.sock_sendall(sock, connect_request(proxy, host, port))
        check_connected(await _head(sock))
        return
    talk = socks_talk(proxy, host, port)
    heard: bytes | None = None
    with suppress(StopIteration):
        while True:
            say, size = next(talk) if heard is None else talk.send(heard)
            await loop.sock_sendall(sock, say)
            heard = await _exactly(sock, size)


async def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = await asyncio.get_running_loop().sock_recv(sock, size - len(data))
        if not more:
            raise ProxyRefused("closed the connection")
        data += more
    return data


async def _head(sock: socket.socket) -> bytes:
    """Return the head of an answer; behind it nothing comes before this side has spoken."""
    data = b""
    while b"\r\n\r\n" not in data and len(data) < _MOST_HEAD:
        more = await asyncio.get_running_loop().sock_recv(sock, _MOST_HEAD)
        if not more:
            break
        data += more
    return data
