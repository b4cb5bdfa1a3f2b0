"""The process that drives Ray: hands orders to actors, pulls shards and reports from them.

It is apart from the process that leads the run because Ray prints to its driver's stdout, takes
over its SIGTERM, and ends it when the head of the cluster is gone.
"""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from ray.exceptions import ActorUnavailableError, RayError

from bench.cluster.driver import Driver, first_line
from bench.cluster.outbox import Batch
from bench.cluster.pieces import ShardCopy, secret_parts
from bench.cluster.words import (
    FromBridge,
    Heard,
    Lost,
    Open,
    Placed,
    Refused,
    Tell,
    ToBridge,
    frame,
    read_word,
)
from bench.errors import ClusterUnusable

_PAUSE_S = 0.5
_MOST_PAUSES = 120
"""A node that is cut off for a minute comes back to the run; Ray itself gives up after 15 to 30 s."""
_RECOVERY_S = 10.0
_SYNC_S = 1.0

_Answer = TypeVar("_Answer")


class Bridge:
    """All actors of one run.

    Args:
        opened: What is asked.
        writer: To the leader.
    """

    def __init__(self, opened: Open, writer: asyncio.StreamWriter) -> None:
        self._opened = opened
        self._writer = writer
        self._driver = Driver(opened)
        self._shards: dict[int, ShardCopy] = {}
        """Of the load processes that were placed."""
        self._over: set[int] = set()
        self._orders: dict[int, asyncio.Queue[bytes | None]] = {
            number: asyncio.Queue() for number in opened.setups
        }
        self._tasks: list[asyncio.Task[None]] = []
        self._pulls: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Place the actors, tell the leader where they are, and begin to work for it.

        Raises:
            ClusterUnusable: There is no such cluster, or no room on it.
        """
        self._driver.join()
        self._say(Placed(places=await self._driver.place()))
        self._shards = {n: ShardCopy(path) for n, path in self._opened.shards.items()}
        for number, setup in self._opened.setups.items():
            self._orders[number].put_nowait(setup)
            self._tasks.append(asyncio.ensure_future(self._telling(number)))
            self._pulls.append(asyncio.ensure_future(self._pulling(number)))
        self._tasks += [*self._pulls, asyncio.ensure_future(self._syncing())]

    def tell(self, number: int, word: bytes) -> None:
        """Hand an order on; one that is gone hears nothing."""
        self._orders[number].put_nowait(word)

    async def close(self) -> None:
        """Let everyone finish who was dismissed, and end the others; twice is once."""
        for orders in self._orders.values():
            orders.put_nowait(None)
        if self._pulls:
            await asyncio.wait(self._pulls, timeout=_RECOVERY_S)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks.clear()
        for number in self._shards.keys() - self._over:
            await self._given_up(number)
        self._driver.leave()
        for shard in self._shards.values():
            shard.close()

    async def _telling(self, number: int) -> None:
        """Hand orders over one after another: an actor's calls may overtake each other."""
        handle, ordinal = self._driver.handles[number], 0
        with contextlib.suppress(RayError):  # `_pulling` meets the same end and tells of it
            for place, part in enumerate(secret_parts(self._opened.secret_words)):
                await _insisted(handle.equip.remote, place, part)
            while (word := await self._orders[number].get()) is not None:
                await _insisted(handle.tell.remote, ordinal, word)
                ordinal += 1
            await _insisted(handle.hang_up.remote)

    async def _pulling(self, number: int) -> None:
        """Fetch shard and reports until the load process is over or gone."""
        handle, shard, taken = self._driver.handles[number], self._shards[number], 0
        try:
            is_last = False
            while not is_last:
                batch: Batch = await _insisted(handle.pull.remote, shard.size, taken)
                shard.append(batch.data)
                for word in batch.words:
                    self._say(Heard(number=number, word=word))
                taken += len(batch.words)
                is_last = batch.is_last
                with contextlib.suppress(ConnectionError):  # the leader's end is met elsewhere
                    await self._writer.drain()
            shard.sync()
            await handle.give_up.remote(shard.size)
            how = "it has ended"
        except RayError as error:
            how = first_line(error) + await self._recovered(number)
        except OSError as error:
            how = f"its records can't be written here: {error.strerror}"
        self._over.add(number)
        self._say(Lost(number=number, how=how))

    async def _given_up(self, number: int) -> None:
        """End one that still works, and fetch what it has written."""
        shard = self._shards[number]
        with contextlib.suppress(RayError, TimeoutError, OSError):
            call = self._driver.handles[number].give_up.remote(shard.size)
            shard.append(await asyncio.wait_for(call, _RECOVERY_S))

    async def _recovered(self, number: int) -> str:
        """Fetch what an actor that died left on its node; return what to say of it."""
        shard = self._shards[number]
        try:
            rest = await asyncio.wait_for(self._driver.rest(number, shard.size), _RECOVERY_S)
        except (RayError, TimeoutError):
            return "; its node is gone too, with the last moment of its records"
        shard.append(rest)
        return "; its records were fetched from its node"

    async def _syncing(self) -> None:
        while True:
            await asyncio.sleep(_SYNC_S)
            for shard in self._shards.values():
                await asyncio.to_thread(shard.sync)

    def _say(self, word: FromBridge) -> None:
        self._writer.write(frame(word))


async def _insisted(call: Callable[..., Awaitable[_Answer]], *arguments: Any) -> _Answer:  # noqa: ANN401 - Ray's calls have no types
    """Return the answer of an actor; ask again while it is only cut off."""
    for _ in range(_MOST_PAUSES):
        try:
            return await call(*arguments)
        except ActorUnavailableError:
            await asyncio.sleep(_PAUSE_S)
    return await call(*arguments)


async def serve(line: socket.socket) -> None:
    """Work for the leader at the other end of ``line`` until it says so or is gone."""
    reader, writer = await asyncio.open_connection(sock=line)
    decoder = msgspec.msgpack.Decoder(ToBridge)
    opened = await read_word(reader, decoder)
    if not isinstance(opened, Open):
        return
    bridge = Bridge(opened, writer)
    try:
        await bridge.open()
        while isinstance(word := await read_word(reader, decoder), Tell):
            bridge.tell(word.number, word.word)
    except ClusterUnusable as error:
        writer.write(frame(Refused(message=error.message, hint=error.hint)))
    finally:
        await bridge.close()
        writer.close()
