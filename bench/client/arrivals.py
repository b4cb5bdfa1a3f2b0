"""One epoll for all sockets whose reads the kernel stamps (Linux), and what was read and waits.

A segment that waits in its socket is stamped with the time of the next one of its stream. So all that
is due is read first, at some 8 us each, and looked at afterwards, one read after the other; whoever
computes for longer, here or elsewhere, has the sockets read again in between. The event loop watches
one descriptor in place of hundreds.
"""

import asyncio
import select
from collections import deque
from collections.abc import Callable

_LONGEST_WAIT_NS = 2_000_000
"""Shorter than nearly every gap between tokens; looking more often makes more reads of one answer."""

HandOver = Callable[[int, bytes | OSError], None]
"""Takes a read and the time of its arrival."""


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
        self._waiting: deque[tuple[HandOver, int, bytes | OSError]] = deque()
        self._is_called = False
        """The loop will call for what waits."""

    def add(self, descriptor: int, read: Callable[[], None]) -> None:
        """Have ``read`` called whenever there is something to read; once for each look."""
        if self._epoll is None:
            self._epoll = select.epoll()
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._epoll.fileno(), self._due)
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

    def wait(self, hand_over: HandOver, at_ns: int, data: bytes | OSError) -> None:
        """Have ``hand_over`` called with a read, after those that wait already."""
        self._waiting.append((hand_over, at_ns, data))

    def go_first(self) -> None:
        """Read what has arrived, unless that was just done: the caller is about to compute."""
        if self._now_ns() - self._looked_ns > _LONGEST_WAIT_NS:
            self._take_in()
            self._call_later()

    def _take_in(self) -> None:
        """Read what has arrived, without waiting: one read of each socket that has something."""
        if self._epoll is None:
            return
        readers = self._readers
        for descriptor, _ in self._epoll.poll(0):
            # One read can end what other sockets of this look belong to.
            if (read := readers.get(descriptor)) is not None:
                read()
        self._looked_ns = self._now_ns()

    def _due(self) -> None:
        self._take_in()
        self._hand_over()

    def _called(self) -> None:
        self._is_called = False
        self._hand_over()

    def _hand_over(self) -> None:
        # What comes in meanwhile has its turn after the tasks that are due.
        for _ in range(len(self._waiting)):
            hand_over, at_ns, data = self._waiting.popleft()
            hand_over(at_ns, data)
            if self._now_ns() - self._looked_ns > _LONGEST_WAIT_NS:
                self._take_in()
        self._call_later()

    def _call_later(self) -> None:
        if self._waiting and not self._is_called and self._loop is not None:
            self._is_called = True
            self._loop.call_soon(self._called)
