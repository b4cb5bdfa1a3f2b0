"""One epoll for all sockets whose reads the kernel stamps (Linux).

The event loop watches one descriptor in place of hundreds, and whoever is about to compute for
longer has the reads that are due taken in first: a segment that waits is stamped with the time of
the next one of its stream.
"""

import asyncio
import select
from collections.abc import Callable

_LONGEST_WAIT_NS = 2_000_000
"""Shorter than nearly every gap between tokens; looking more often makes more reads of one answer."""


class Arrivals:
    """The sockets that are open now; the epoll lives as long as there is one.

    Args:
        now_ns: The clock.
    """

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._looked_ns = now_ns()
        self._epoll: select.epoll | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._readers: dict[int, Callable[[], None]] = {}

    def add(self, descriptor: int, read: Callable[[], None]) -> None:
        """Have ``read`` called whenever there is something to read; once for each look."""
        if self._epoll is None:
            self._epoll = select.epoll()
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._epoll.fileno(), self.take_in)
        self._epoll.register(descriptor, select.EPOLLIN)
        self._readers[descriptor] = read

    def remove(self, descriptor: int) -> None:
        """Forget a socket, before it is closed; one that is not known is none of ours."""
        if self._epoll is None or self._readers.pop(descriptor, None) is None:
            return
        self._epoll.unregister(descriptor)
        if not self._readers and self._loop is not None:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None

    def go_first(self) -> None:
        """Read what has arrived, unless that was just done: the caller is about to compute."""
        if self._now_ns() - self._looked_ns > _LONGEST_WAIT_NS:
            self.take_in()

    def take_in(self) -> None:
        """Read what has arrived, without waiting: one read of each socket that has something."""
        if self._epoll is None:
            return
        readers = self._readers
        for descriptor, _ in self._epoll.poll(0):
            # One read can end what other sockets of this look belong to.
            if (read := readers.get(descriptor)) is not None:
                read()
        self._looked_ns = self._now_ns()
