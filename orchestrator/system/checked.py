"""Holding a process without help of the kernel: compared again right before each signal.

Between the comparison and the signal a PID could be reused in theory; pidfd has no such gap and
is used where there is one.
"""

import os
import time
from collections.abc import Callable

from orchestrator.events import Exit
from orchestrator.identity import Match, matches
from orchestrator.ports import Absence, ProcessInfo

_POLL_S = 0.02

Look = Callable[[int], ProcessInfo | Absence]


class CheckedHeld:
    """One process, known by its identity.

    Args:
        seen: What was seen when it was taken hold of.
        look: Reads the process table.
        killpg: Signals a process group.
    """

    def __init__(
        self, seen: ProcessInfo, look: Look, killpg: Callable[[int, int], None] = os.killpg
    ) -> None:
        self._identity = seen.identity
        self._look = look
        self._killpg = killpg

    @property
    def pid(self) -> int:
        """Its PID."""
        return self._identity.pid

    def _now(self) -> ProcessInfo | None:
        seen = self._look(self.pid)
        if isinstance(seen, Absence) or matches(self._identity, seen.identity) is not Match.SAME:
            return None
        return seen

    def ended(self, timeout_s: float) -> bool:
        """Wait for its death by looking every 20 ms."""
        deadline = time.perf_counter() + timeout_s
        while True:
            seen = self._now()
            if seen is None or seen.state == "zombie":
                return True
            left = deadline - time.perf_counter()
            if left <= 0:
                return False
            time.sleep(min(_POLL_S, left))

    def exit(self) -> Exit:
        """Return that nobody can tell."""
        return Exit()

    def send(self, number: int, *, group: bool = False) -> bool:
        """Compare, then signal."""
        seen = self._now()
        if seen is None or (seen.state == "zombie" and not group):
            return False
        try:
            if group:
                # The number of a group is not given away while its leader is there, dead or not.
                self._killpg(self.pid, number)
            else:
                os.kill(self.pid, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            # macOS answers EPERM for a group that holds nothing but zombies. Its leader may have
            # become one since it was looked at.
            now = self._now()
            if now is None or now.state == "zombie":
                return False
            raise
        return True

    def close(self) -> None:
        """Hold nothing: there is nothing to let go."""
