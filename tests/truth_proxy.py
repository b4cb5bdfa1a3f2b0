"""A gateway whose own time is known: it delays, buffers, and logs how long each part was inside it.

    python tests/truth_proxy.py --upstream 127.0.0.1:8080 --first-ms 5 --chunk-ms 1 --log inside.jsonl

Everything but the delay is passed on byte for byte; each client connection has an upstream
connection of its own. A program, because a test's own event loop would be part of what it adds.
Prints ``truth proxy ready: URL`` on stdout.
"""

import argparse
import asyncio
import json
import re
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

_EVENT_END = b"\n\n\r\n"
_BODY_END = b"0\r\n\r\n"
_CONTENT = re.compile(rb'"content":"[^"]')


@dataclass(frozen=True, kw_only=True)
class Manner:
    first_s: float
    chunk_s: float
    hold_bytes: int
    """Passed on once so many have come, or the body ended; 0 = at once."""


@dataclass
class Inside:
    """Readings of one request, nanoseconds."""

    came: int
    left: int = 0
    parts: list[tuple[int, int, bool]] = field(default_factory=list)
    """Arrival, departure, whether it holds content."""

    def line(self) -> str:
        wait = self.left - self.came
        content = [part for part in self.parts if part[2]] or self.parts
        (first_in, first_out, _), (last_in, last_out, _) = content[0], content[-1]
        spans = (last_out - first_out) - (last_in - first_in)
        end_in, end_out, _ = self.parts[-1]
        found = {
            "firstMs": (wait + first_out - first_in) / 1e6,
            "totalMs": (wait + end_out - end_in) / 1e6,
            "gapMs": spans / max(1, len(content) - 1) / 1e6,
        }
        return json.dumps(found)


class Client(asyncio.Protocol):
    """One client connection and its twin at the upstream."""

    def __init__(self, proxy: "Proxy") -> None:
        self.proxy = proxy
        self.up: asyncio.Transport | None = None
        self.early = b""
        self.inside: Inside | None = None
        self.rest = b""
        self.streams = False
        self.queue: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # type: ignore[explicit-override]  # typing.override came with 3.12
        assert isinstance(transport, asyncio.Transport)
        self.down = transport
        self.task = asyncio.ensure_future(self.pump())

    def data_received(self, data: bytes) -> None:  # type: ignore[explicit-override]  # typing.override came with 3.12
        if self.inside is None:
            self.inside = Inside(came=time.perf_counter_ns())
        if self.up is None:
            self.early += data
        else:
            self.forward(data)

    def forward(self, data: bytes) -> None:
        assert self.up is not None
        self.up.write(data)
        if self.inside is not None:
            self.inside.left = time.perf_counter_ns()

    def from_upstream(self, data: bytes) -> None:
        at = time.perf_counter_ns()
        if data.startswith(b"HTTP/1.1"):
            self.streams = b"text/event-stream" in data.partition(b"\r\n\r\n")[0].lower()
        *events, self.rest = (self.rest + data).split(_EVENT_END)
        for event in events:
            self.queue.put_nowait((at, event + _EVENT_END))
        if (self.rest and not self.streams) or self.rest.endswith(_BODY_END):
            self.queue.put_nowait((at, self.rest))
            self.rest = b""

    async def pump(self) -> None:
        loop = asyncio.get_running_loop()
        _, other = await loop.create_connection(lambda: Upstream(self), *self.proxy.upstream)
        self.up = other.transport
        if self.early:
            self.forward(self.early)
        manner, held, is_first = self.proxy.manner, list[tuple[int, bytes]](), True
        while True:
            at, part = await self.queue.get()
            streams = self.streams
            delay = manner.chunk_s + (manner.first_s if is_first else 0.0)
            if streams and delay:
                await asyncio.sleep(delay)
            held.append((at, part))
            is_end = part.endswith(_BODY_END) or not streams
            if sum(len(one) for _, one in held) < manner.hold_bytes and not is_end:
                is_first = False
                continue
            # Before the write: who is woken by it may get the processor first.
            out = time.perf_counter_ns()
            self.down.write(b"".join(one for _, one in held))
            if self.inside is None:  # the rest of an answer that is no stream
                held = []
                continue
            self.inside.parts += [(came, out, bool(_CONTENT.search(one))) for came, one in held]
            held, is_first = [], is_end
            if is_end:
                if streams:
                    self.proxy.log(self.inside.line())
                self.inside, self.streams = None, False

    def connection_lost(self, exc: Exception | None) -> None:  # type: ignore[explicit-override]  # typing.override came with 3.12
        self.task.cancel()
        if self.up is not None:
            self.up.close()


class Upstream(asyncio.Protocol):
    def __init__(self, client: Client) -> None:
        self.client = client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # type: ignore[explicit-override]  # typing.override came with 3.12
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:  # type: ignore[explicit-override]  # typing.override came with 3.12
        self.client.from_upstream(data)

    def connection_lost(self, exc: Exception | None) -> None:  # type: ignore[explicit-override]  # typing.override came with 3.12
        self.client.down.close()


class Proxy:
    def __init__(self, upstream: tuple[str, int], manner: Manner, log: Path | None) -> None:
        self.upstream, self.manner = upstream, manner
        self.file = log.open("a") if log else None

    def log(self, line: str) -> None:
        if self.file is not None:
            self.file.write(line + "\n")
            self.file.flush()


async def serve(arguments: argparse.Namespace) -> None:
    host, _, port = arguments.upstream.rpartition(":")
    manner = Manner(
        first_s=arguments.first_ms / 1e3,
        chunk_s=arguments.chunk_ms / 1e3,
        hold_bytes=1 << 40 if arguments.hold == "all" else int(arguments.hold),
    )
    proxy = Proxy((host, int(port)), manner, arguments.log)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Client(proxy), "127.0.0.1", arguments.port, backlog=512
    )
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    port = server.sockets[0].getsockname()[1]
    sys.stdout.write(f"truth proxy ready: http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    await ended.wait()
    server.close()


if __name__ == "__main__":
    reader = argparse.ArgumentParser()
    reader.add_argument("--upstream", required=True)
    reader.add_argument("--port", type=int, default=0)
    reader.add_argument("--first-ms", type=float, default=0.0)
    reader.add_argument("--chunk-ms", type=float, default=0.0)
    reader.add_argument("--hold", default="0")
    reader.add_argument("--log", type=Path)
    asyncio.run(serve(reader.parse_args()))
