"""What one token and one request cost the client in processor time, without a server's share.

Usage::

    python -m benchmarks.read_cost [--streams 1,8,64,256] [--waves 10]

Every stream gets a token in a read of its own at the same moment, as often as an answer has tokens; only
the client's turns are timed, in processor time of its thread. The lowest of all waves is least
disturbed by what else the machine does; the median stands beside it.
"""

import argparse
import asyncio
import gc
import os
import socket
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.client.chat_client import HttpChatClient
from bench.client.endpoint import Endpoint
from bench.dialects import DIALECTS
from bench.model.case import ChatRequest, Message
from bench.model.target import Target
from bench.ports import Call
from bench.wire import PROTOCOLS

TOKENS = 100
_TURNS = 4
"""Of the event loop, until what has arrived was read and what it woke has run."""
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_START = b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,'
_REST = b'"logprobs":null,"finish_reason":null}]}\n\n'
_FINISH = (
    _START + b'"model":"mock","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    + _START + b'"model":"mock","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":100,'
    b'"total_tokens":109}}\n\ndata: [DONE]\n\n'
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Costs:
    """Processor time in microseconds, one value a wave."""

    per_token: list[float] = field(default_factory=list)
    sending: list[float] = field(default_factory=list)
    concluding: list[float] = field(default_factory=list)
    """From the last read to the finished response."""


def framed(data: bytes) -> bytes:
    """Return one chunk of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def token(number: int) -> bytes:
    """Return one event as it comes over the wire."""
    said = b'"model":"mock","choices":[{"index":0,"delta":{"content":"tok%04d "},' % number
    return framed(_START + said + _REST)


class Timed:
    """Adds up the processor time of this thread over the stretches that are timed."""

    def __init__(self, streams: int) -> None:
        self._streams = streams
        self._used_ns = 0

    def __enter__(self) -> "Timed":
        self._began_ns = time.thread_time_ns()
        return self

    def __exit__(self, *_: object) -> None:
        self._used_ns += time.thread_time_ns() - self._began_ns

    def us_each(self, times: int = 1) -> float:
        """Return microseconds for each stream and each of so many times."""
        return self._used_ns / 1e3 / self._streams / times


async def turns() -> None:
    """Let the event loop do what is due."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)


async def wave(client: HttpChatClient, servers: Sequence[socket.socket], costs: Costs) -> None:
    """Play one answer on every connection at once."""
    call = Call(
        target=Target(id="m", model="m", model_id="m", display_name="m"),
        request=ChatRequest(messages=(Message(role="user", content="hello"),), max_tokens=TOKENS),
        timeout_ms=600_000,
        tags={},
        keeps_chunks=False,
    )
    sending, reading, concluding = (Timed(len(servers)) for _ in range(3))
    with sending:
        answers = [asyncio.ensure_future(client.send(call)) for _ in servers]
        await turns()
    for server in servers:
        server.recv(65_536)
        server.sendall(_HEAD + token(0))
    await turns()
    for number in range(1, TOKENS):
        for server in servers:
            server.sendall(token(number))
        with reading:
            await turns()
    for server in servers:
        server.sendall(framed(_FINISH) + b"0\r\n\r\n")
    with concluding:
        done = [await answer for answer in answers]
    if any(response.timing.content_chunk_count != TOKENS for _, response in done):
        raise RuntimeError("a token was lost")
    costs.per_token.append(reading.us_each(TOKENS - 1))
    costs.sending.append(sending.us_each())
    costs.concluding.append(concluding.us_each())


async def measured(streams: int, waves: int) -> Costs:
    """Return what so many streams at a time cost."""
    costs = Costs()
    with socket.create_server(("127.0.0.1", 0), backlog=streams) as listener:
        host, port = listener.getsockname()
        endpoint = Endpoint(
            url=f"http://{host}:{port}/v1/chat/completions",
            headers=(("Authorization", "Bearer sk-an-ordinary-key-of-a-usual-length"),),
            stream=True,
            wire=PROTOCOLS["chat"],
            dialect=DIALECTS["plain"],
        )
        client = HttpChatClient(endpoint)
        await client.open_connections(streams)
        servers = [listener.accept()[0] for _ in range(streams)]
        for server in servers:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        gc.collect()
        gc.freeze()
        for _ in range(waves):
            await wave(client, servers, costs)
        await client.close()
        for server in servers:
            server.close()
    return costs


def main(argv: Sequence[str]) -> int:
    """Print one row for each number of streams: lowest and median of the waves."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.read_cost")
    parser.add_argument("--streams", default="1,8,64,256")
    parser.add_argument("--waves", type=int, default=10)
    asked = parser.parse_args(argv)
    print("| streams | us/token | us/request sent | us/answer concluded | load average |")
    print("|---|---|---|---|---|")
    for streams in map(int, asked.streams.split(",")):
        costs = asyncio.run(measured(streams, asked.waves))
        cells = [
            f"{min(each):.1f} ({statistics.median(each):.1f})"
            for each in (costs.per_token, costs.sending, costs.concluding)
        ]
        print(f"| {streams} | {' | '.join(cells)} | {os.getloadavg()[0]:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
