"""The actor: one load process inside the event loop of an actor's own process. Imports no Ray.

Every method may be called twice for one call of the leader (an answer can be lost on the way):
orders and parts are numbered, and batches are asked for by what was already had.
"""

import asyncio
import os
import platform
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from bench import __version__
from bench.cluster.outbox import Batch, Outbox
from bench.errors import LoadProcessLost
from bench.executor import Equipment
from bench.fleet.work import Line, work
from bench.model.fleet import Failed, Order, Report, Setup, decode_order, encode

BATCH_BYTES = 4 * 1024 * 1024
WAIT_S = 0.25
"""So long a batch waits for a word: what a node that dies takes along is this much, and a batch."""
_ENDING_S = 5.0
"""So long the end of what is in flight may take that is given up."""
_STEM = "shard"


Work = Callable[[Line, Equipment], Awaitable[None]]
"""A load process from its first order to its last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What an actor says of itself before it is trusted with anything."""

    version: str
    """Of this program."""
    pid: int
    host: str
    boot_id: str | None
    folder: str
    """Of its shard, on its node."""


class Generator:
    """One load process. Its arguments hold no secret: Ray keeps those of a constructor.

    Args:
        number: Of the load process.
        work: Another than the real one.
        root: Where its folder is made; ``None`` = where this system keeps temporary files.
    """

    def __init__(self, number: int, work: Work = work, *, root: Path | None = None) -> None:
        self._number = number
        self._work = work
        self._folder = Path(tempfile.mkdtemp(prefix=f"gateway-bench-{number}-", dir=root))
        self._parts: list[bytes] = []
        self._orders: asyncio.Queue[Order | None] = asyncio.Queue()
        self._heard = 0
        self._outbox: Outbox | None = None
        self._task: asyncio.Task[None] | None = None

    async def prove(self) -> Proof:
        """Say who this is."""
        return Proof(
            version=__version__,
            pid=os.getpid(),
            host=platform.node(),
            boot_id=boot_id(),
            folder=str(self._folder),
        )

    async def equip(self, ordinal: int, part: bytes) -> None:
        """Take a part of the secret words, from 0; parts are small enough to stay out of any store."""
        if ordinal == len(self._parts):
            self._parts.append(part)

    async def tell(self, ordinal: int, word: bytes) -> None:
        """Take an order, from 0; the first one is the setup."""
        if ordinal != self._heard:
            return
        self._heard += 1
        order = decode_order(word)
        self._orders.put_nowait(order)
        if isinstance(order, Setup):
            self._begin(order)

    async def pull(self, offset: int, taken: int) -> Batch:
        """Return what follows of shard and reports; see ``Outbox.batch``."""
        if self._outbox is None:
            await asyncio.sleep(WAIT_S)
            return Batch(data=b"", words=())
        return await self._outbox.batch(offset=offset, taken=taken, wait_s=WAIT_S)

    async def hang_up(self) -> None:
        """Say that no order follows: one that was not dismissed gives up what is in flight."""
        self._orders.put_nowait(None)

    async def give_up(self, offset: int) -> bytes:
        """End the load process, if it still works; return the rest of its shard and remove that."""
        await self.hang_up()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=_ENDING_S)
            self._task.cancel()
            await asyncio.wait({self._task})
        return rest_of_shard(str(self._folder), self._number, offset)

    def _begin(self, setup: Setup) -> None:
        equipment = Equipment(folder=self._folder, stem=_STEM, secret_words=b"".join(self._parts))
        self._parts.clear()
        self._outbox = Outbox(equipment.shard(setup.number), most_bytes=BATCH_BYTES)
        self._task = asyncio.ensure_future(self._carried_out(equipment, self._outbox))

    async def _carried_out(self, equipment: Equipment, outbox: Outbox) -> None:
        try:
            await self._work(_Line(self._orders, outbox), equipment)
        except Exception as error:  # noqa: BLE001 - the border of a process: its leader is told
            # Not its text: nothing that holds a secret may reach the cluster's logs.
            outbox.put(encode(Failed(message=f"it met {type(error).__name__}")))
        finally:
            outbox.end()


class _Line:
    """The talk, through two queues."""

    def __init__(self, orders: "asyncio.Queue[Order | None]", outbox: Outbox) -> None:
        self._orders = orders
        self._outbox = outbox

    async def hear(self) -> Order:
        order = await self._orders.get()
        if order is None:
            raise LoadProcessLost(0, "its leader is gone")
        return order

    async def tell(self, report: Report) -> None:
        self._outbox.put(encode(report))


def boot_id() -> str | None:
    """Return what tells this boot of this machine from every other; ``None`` = not known here."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None


def rest_of_shard(folder: str, number: int, offset: int) -> bytes:
    """Return what an actor that died left on its node, from ``offset`` on, and remove it.

    Runs as a task on that node.
    """
    shard = Path(folder) / f"{_STEM}.{number}.jsonl"
    try:
        with shard.open("rb") as file:
            file.seek(offset)
            return file.read()
    except OSError:
        return b""
    finally:
        shutil.rmtree(folder, ignore_errors=True)
