"""See a living gateway go wrong although no request has failed: suspended, deaf, or replaced.

Looked at a few times a second from the watcher's thread. Each look is a few reads of the kernel's
tables; who holds a socket, which costs more, is asked only once something changed.
"""

from collections.abc import Callable

from orchestrator.events import Trouble
from orchestrator.lifecycle import Machine
from orchestrator.records import GatewayRecord

# A debugger or a look by `strace` stops a process for a moment.
_STOPPED_LOOKS = 2


class Condition:
    """What a living gateway looked like when it was last fine.

    Args:
        machine: The ports.
        record: Which gateway.
        explain: Says what is wrong with it; asked only after something changed.
    """

    def __init__(
        self, machine: Machine, record: GatewayRecord, explain: Callable[[], Trouble | None]
    ) -> None:
        self._machine = machine
        self._record = record
        self._explain = explain
        self._stopped = 0
        self._sockets = machine.sockets.socket_numbers(record.port)
        self.fine_ns = machine.clock.now_ns()
        """When it was last seen to be fine."""

    def look(self) -> Trouble | None:
        """Look once; return what is wrong since the last look, ``None`` = it is fine."""
        now_ns = self._machine.clock.now_ns()
        seen = self._machine.meter.kin(self._record.identity.pid)
        is_stopped = seen is not None and seen.is_stopped
        self._stopped = self._stopped + 1 if is_stopped else 0
        if is_stopped and self._stopped < _STOPPED_LOOKS:
            return None
        sockets = self._machine.sockets.socket_numbers(self._record.port)
        if is_stopped or sockets != self._sockets:
            trouble = self._explain()
            if trouble is not None:
                return trouble
            # It listens anew, as a cluster does that exchanges its workers.
            sockets = self._machine.sockets.socket_numbers(self._record.port)
        self._sockets, self.fine_ns = sockets, now_ns
        return None
