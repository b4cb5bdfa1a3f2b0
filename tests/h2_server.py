"""An HTTP/2 server that plays scripts, on `h2` in the event loop of the test: TLS or prior knowledge."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.events
import h2.exceptions
from h2.errors import ErrorCodes
from h2.settings import SettingCodes, Settings

EVENT = 'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n'
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


@dataclass
class Stream:
    """One request and what can be said to it."""

    number: int
    headers: dict[bytes, bytes]
    connection: "_Connection"
    body: bytearray = field(default_factory=bytearray)
    complete: asyncio.Event = field(default_factory=asyncio.Event)
    reset: asyncio.Event = field(default_factory=asyncio.Event)
    """The client gave this stream up."""

    def head(self, status: int = 200, *more: tuple[str, str], ends: bool = False) -> None:
        fields = [(":status", str(status)), ("content-type", "text/event-stream"), *more]
        self.connection.h2.send_headers(self.number, fields, end_stream=ends)
        self.connection.flush()

    def send(self, data: bytes, *, ends: bool = False) -> None:
        self.connection.h2.send_data(self.number, data, end_stream=ends)
        self.connection.flush()

    def answer(self, text: str = "hi") -> None:
        self.head()
        self.send((EVENT % text).encode() + FINISH, ends=True)

    def refuse(self, code: ErrorCodes) -> None:
        self.connection.h2.reset_stream(self.number, code)
        self.connection.flush()

    def goodbye(self, last: int, code: ErrorCodes = ErrorCodes.NO_ERROR) -> None:
        """Send GOAWAY, after which `h2` itself would send nothing more."""
        self.connection.writer.write(
            b"\x00\x00\x08\x07\x00\x00\x00\x00\x00"
            + last.to_bytes(4, "big")
            + int(code).to_bytes(4, "big")
        )


Play = Callable[[Stream], Awaitable[None]]


@dataclass
class H2Server:
    """One running server."""

    plays: list[Play]
    """One per request, in order of arrival; the last one serves all further requests."""
    most_streams: int | None = None
    port: int = 0
    streams: list[Stream] = field(default_factory=list)
    arrived: asyncio.Condition = field(default_factory=asyncio.Condition)
    connections: list["_Connection"] = field(default_factory=list)
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    def url(self, scheme: str = "http", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.port}/v1/chat/completions"

    async def has_arrived(self, count: int) -> None:
        """Wait until so many requests have begun to come."""
        async with self.arrived:
            await self.arrived.wait_for(lambda: len(self.streams) >= count)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(self, writer)
        self.connections.append(connection)
        connection.begin()
        try:
            while data := await reader.read(65_536):
                connection.take(data)
        except (ConnectionError, h2.exceptions.ProtocolError):
            pass
        finally:
            writer.close()


class _Connection:
    def __init__(self, server: H2Server, writer: asyncio.StreamWriter) -> None:
        self.h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding=None)
        )
        self.writer = writer
        self._server = server
        self._streams: dict[int, Stream] = {}

    def begin(self) -> None:
        most = self._server.most_streams
        given = {} if most is None else {SettingCodes.MAX_CONCURRENT_STREAMS: most}
        self.h2.local_settings = Settings(client=False, initial_values=given)
        self.h2.initiate_connection()
        self.flush()

    def flush(self) -> None:
        self.writer.write(self.h2.data_to_send())

    def take(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            number = getattr(event, "stream_id", None) or 0
            if isinstance(event, h2.events.RequestReceived):
                self._begin_stream(number, dict(event.headers))
            elif isinstance(event, h2.events.DataReceived):
                self._streams[number].body += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, number)
            elif isinstance(event, h2.events.StreamEnded):
                self._streams[number].complete.set()
            elif isinstance(event, h2.events.StreamReset):
                self._streams[number].reset.set()
        self.flush()

    def _begin_stream(self, number: int, headers: dict[bytes, bytes]) -> None:
        server = self._server
        stream = Stream(number=number, headers=headers, connection=self)
        self._streams[number] = stream
        server.streams.append(stream)
        play = server.plays[min(len(server.streams), len(server.plays)) - 1]

        async def run() -> None:
            async with server.arrived:
                server.arrived.notify_all()
            await stream.complete.wait()
            await play(stream)

        task = asyncio.ensure_future(run())
        server.tasks.add(task)


@asynccontextmanager
async def h2_server(
    *plays: Play,
    tls: ssl.SSLContext | None = None,
    most_streams: int | None = None,
) -> AsyncIterator[H2Server]:
    """Run a server on a free port of the loopback address; a play that fails fails the test."""
    server = H2Server(plays=list(plays) or [answered], most_streams=most_streams)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for connection in server.connections:
            connection.writer.close()
        await listener.wait_closed()
        for task in server.tasks:
            if not task.done():
                task.cancel()
            elif (error := task.exception()) is not None:
                raise error


async def answered(stream: Stream) -> None:
    """Answer with a short stream."""
    stream.answer()
