"""`python -m bench.fleet DESCRIPTOR`: one load process; started by the process that leads a run."""

import asyncio
import pickle
import signal
import socket
import sys

from bench.errors import LoadProcessLost
from bench.executor import Equipment
from bench.fleet.frames import framed, read_frame
from bench.fleet.work import work
from bench.model.fleet import Order, Report, decode_order, encode


class SocketLine:
    """The talk with the leader over one socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def hear(self) -> Order:
        """Return the next order."""
        word = await read_frame(self._reader)
        if word is None:
            raise LoadProcessLost(0, "its leader is gone")
        return decode_order(word)

    async def tell(self, report: Report) -> None:
        """Say something."""
        self._writer.write(framed(encode(report)))
        await self._writer.drain()


async def _main(descriptor: int) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=socket.socket(fileno=descriptor))
    word = await read_frame(reader)
    equipment = None if word is None else pickle.loads(word)  # noqa: S301 - from who started us
    if isinstance(equipment, Equipment):
        await work(SocketLine(reader, writer), equipment)
    writer.close()


if __name__ == "__main__":
    # Signals to the whole group mean the leader; it says here what is to be done.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    asyncio.run(_main(int(sys.argv[1])))
