"""The leader's side: `bench.executor.Executor` on a Ray cluster, through the process that drives Ray."""

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import msgspec

from bench.cluster.generator import boot_id
from bench.cluster.session import end_session
from bench.cluster.surroundings import private_cluster, short_root, without
from bench.cluster.words import (
    Close,
    FromBridge,
    Heard,
    Lost,
    Open,
    Place,
    Placed,
    Refused,
    Tell,
    ToBridge,
    frame,
    read_word,
)
from bench.errors import ClusterUnusable, LoadProcessLost
from bench.executor import Equipment, LoadProcess, Whereabouts
from bench.model.fleet import Order, Report, Setup, decode_report, encode

PROGRAM = (sys.executable, "-m", "bench.cluster")
FAREWELL_S = 30.0
"""One to two seconds are usual."""
_NO_BRIDGE = "the process that drives Ray is gone"


class RayExecutor:
    """Runs load processes as actors.

    Args:
        address: Of a cluster; ``None`` = one of our own on this machine, for the time of the run.
        processors: CPUs that each actor asks of the cluster; less than 1 puts several on a core.
        withheld: Values that no process of a cluster of our own may find in its environment.
        program: Drives Ray; it is given the number of its socket.
        farewell_s: So long actors and a cluster of our own may take to end.
    """

    def __init__(
        self,
        *,
        address: str | None,
        processors: float,
        withheld: Collection[str] = (),
        program: Sequence[str] = PROGRAM,
        farewell_s: float = FAREWELL_S,
    ) -> None:
        self._farewell_s = farewell_s
        self._program = program
        self._address = address
        self._processors = processors
        self._withheld = frozenset(withheld)
        self._members: dict[int, _Member] = {}
        self._bridge: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None
        self._folder: Path | None = None

    async def start(self, setups: Sequence[Setup], equipment: Equipment) -> Sequence[LoadProcess]:
        """Place one actor for each setup; see ``bench.executor.Executor``.

        Raises:
            ClusterUnusable: There is no such cluster, or no room on it.
            LoadProcessLost: The process that drives Ray ended.
        """
        opened = Open(
            address=self._address,
            processors=self._processors,
            setups={setup.number: encode(setup) for setup in setups},
            shards={setup.number: str(equipment.shard(setup.number)) for setup in setups},
            secret_words=equipment.secret_words,
        )
        reader = await self._begun()
        self._send(opened)
        decoder = msgspec.msgpack.Decoder(FromBridge)
        match await read_word(reader, decoder):
            case Placed(places=places):
                here = boot_id()
                self._members = {
                    place.number: _Member(_whereabouts(place, here), self._send) for place in places
                }
            case Refused(message=message, hint=hint):
                await self.close()
                raise ClusterUnusable(message, hint=hint)
            case _:
                await self.close()
                raise LoadProcessLost(setups[0].number, _NO_BRIDGE)
        self._listening = asyncio.ensure_future(self._listen(reader, decoder))
        return [self._members[setup.number] for setup in setups]

    async def close(self) -> None:
        """End all actors, and the cluster if it is our own; twice is once."""
        bridge, self._bridge = self._bridge, None
        if bridge is None:
            return
        with contextlib.suppress(ConnectionError):
            self._send(Close())
        try:
            await asyncio.wait_for(bridge.wait(), self._farewell_s)
        except TimeoutError:
            bridge.kill()
            await bridge.wait()
        await asyncio.to_thread(end_session, bridge.pid)
        if self._listening is not None:
            await asyncio.wait({self._listening})
        if self._writer is not None:
            self._writer.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _begun(self) -> asyncio.StreamReader:
        """Start the process that drives Ray; return what it says."""
        ours, theirs = socket.socketpair()
        environment = without(os.environ, self._withheld)
        if self._address is None:
            self._folder = Path(tempfile.mkdtemp(prefix="gwb-ray-", dir=short_root()))
            environment |= private_cluster(self._folder, token=secrets.token_hex(32))
        with theirs:
            self._bridge = await asyncio.create_subprocess_exec(
                *self._program,
                str(theirs.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env=environment,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        reader, self._writer = await asyncio.open_connection(sock=ours)
        return reader

    async def _listen(
        self, reader: asyncio.StreamReader, decoder: "msgspec.msgpack.Decoder[FromBridge]"
    ) -> None:
        while (word := await read_word(reader, decoder)) is not None:
            match word:
                case Heard(number=number, word=report):
                    self._members[number].take(decode_report(report))
                case Lost(number=number, how=how):
                    self._members[number].lose(how)
                case Placed() | Refused():
                    pass
        for member in self._members.values():
            member.lose(_NO_BRIDGE)

    def _send(self, word: ToBridge) -> None:
        if self._writer is not None:
            self._writer.write(frame(word))


def _whereabouts(place: Place, here: str | None) -> Whereabouts:
    return Whereabouts(
        number=place.number,
        pid=place.pid,
        host=place.host,
        node=place.node,
        shares_clock=here is not None and place.boot_id == here,
    )


class _Member:
    """One actor as the leader sees it: ``bench.executor.LoadProcess``."""

    def __init__(self, whereabouts: Whereabouts, send: Callable[[ToBridge], None]) -> None:
        self._whereabouts = whereabouts
        self._send = send
        self._reports: asyncio.Queue[Report | LoadProcessLost] = asyncio.Queue()
        self._lost: LoadProcessLost | None = None

    @property
    def whereabouts(self) -> Whereabouts:
        return self._whereabouts

    async def tell(self, order: Order) -> None:
        if self._lost is not None:
            raise self._lost
        self._send(Tell(number=self._whereabouts.number, word=encode(order)))

    async def hear(self) -> Report:
        if self._lost is not None and self._reports.empty():
            raise self._lost
        found = await self._reports.get()
        if isinstance(found, LoadProcessLost):
            raise found
        return found

    def take(self, report: Report) -> None:
        self._reports.put_nowait(report)

    def lose(self, how: str) -> None:
        if self._lost is None:
            self._lost = LoadProcessLost(self._whereabouts.number, how)
            self._reports.put_nowait(self._lost)
