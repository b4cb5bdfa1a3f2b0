"""A server of raw bytes, silences and cuts, for what a well-behaved server never does.

What speaks HTTP properly is `bench.simulator`; this one only plays scripts. It runs in the event
loop of the test.
"""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum

_HEAD_END = b"\r\n\r\n"


class Act(Enum):
    """What a script can do besides sending bytes and waiting."""

    CLOSE = "close"
    """Close properly."""
    RESET = "reset"
    """Break the connection with a TCP reset."""
    HOLD = "hold"
    """Do nothing until the client goes away."""


Step = bytes | float | Act
"""Bytes to send, seconds to wait, or an act."""


@dataclass
class FakeGateway:
    """One running server."""

    scripts: list[Sequence[Step]]
    """One per request, in order of arrival; the last one serves all further requests."""
    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    on_connect: Sequence[Step] = ()
    """Played when a connection comes, before any request is read."""
    requested: asyncio.Event = field(default_factory=asyncio.Event)
    """A request was read."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """The client closed a connection while a script held it."""

    @property
    def url(self) -> str:
        """Where completions are asked for."""
        return f"http://127.0.0.1:{self.port}/v1/chat/completions"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Play scripts on one connection until one closes it or the client leaves."""
        self.connections += 1
        try:
            if not await self._play(self.on_connect, reader, writer):
                return
            while (request := await _request(reader)) is not None:
                self.requests.append(request)
                self.requested.set()
                script = self.scripts[min(len(self.requests), len(self.scripts)) - 1]
                if not await self._play(script, reader, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        finally:
            writer.close()

    async def _play(
        self, script: Sequence[Step], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        for step in script:
            match step:
                case bytes():
                    writer.write(step)
                    await writer.drain()
                case float() | int():
                    await asyncio.sleep(step)
                case Act.CLOSE:
                    return False
                case Act.RESET:
                    sock = writer.get_extra_info("socket")
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    writer.transport.abort()
                    return False
                case Act.HOLD:
                    await reader.read()
                    self.left.set()
                    return False
        return True


async def _request(reader: asyncio.StreamReader) -> bytes | None:
    """Read one request with a content length; ``None`` when the client has left."""
    try:
        head = await reader.readuntil(_HEAD_END)
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    length = next(
        int(line.partition(b":")[2])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    )
    return head + await reader.readexactly(length)


@asynccontextmanager
async def fake_gateway(
    *scripts: Sequence[Step], on_connect: Sequence[Step] = (), tls: ssl.SSLContext | None = None
) -> AsyncIterator[FakeGateway]:
    """Run a fake gateway on a free port of the loopback address."""
    gateway = FakeGateway(scripts=list(scripts) or [()], on_connect=on_connect)
    server = await asyncio.start_server(gateway.serve, "127.0.0.1", 0, ssl=tls)
    gateway.port = server.sockets[0].getsockname()[1]
    try:
        yield gateway
    finally:
        server.close()
        await server.wait_closed()


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Return one HTTP chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def content(text: str) -> bytes:
    """Return the HTTP chunk of one content event."""
    event = b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n'
    return chunk(event % text.encode())


FINISH = chunk(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
DONE = chunk(b"data: [DONE]\n\n")
END = b"0\r\n\r\n"
ANSWER: Sequence[Step] = (HEAD + content("hi") + FINISH + DONE + END,)
"""A whole short answer; the connection stays open."""
