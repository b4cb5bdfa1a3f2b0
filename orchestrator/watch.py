"""Watch a gateway that is up: its death in milliseconds, and why a request to it failed."""

import threading
from collections.abc import Callable

from orchestrator import records
from orchestrator.condition import Condition
from orchestrator.events import (
    Exited,
    Trouble,
    TroubleClass,
    as_trouble,
    classify,
    described,
    last_words,
)
from orchestrator.lifecycle import Machine, Started, exit_of, session_of
from orchestrator.ports import Absence, Listener
from orchestrator.records import GatewayRecord, StopAsked

# The kernel wakes us at the death itself; this is how soon `close` is heard.
_TURN_S = 0.2
# A process that is being killed closes its sockets a moment before it counts as dead.
_DYING_S = 1.0
_UNASKED = " although nobody asked us to stop it"
_ANY_HOST = frozenset(("0.0.0.0", "::"))  # noqa: S104  # compared with, not bound


class Watcher:
    """Watches one gateway from a thread of its own.

    Args:
        machine: The ports.
        started: From ``starting.start``; the watcher does not close ``started.held``.
        on_exit: Called once, in the watcher's thread, when the gateway ends unasked.
        on_trouble: Called once, there too, when it lives and can't be measured any more:
            suspended, deaf, or another process at its port.
    """

    def __init__(
        self,
        machine: Machine,
        started: Started,
        on_exit: Callable[[Exited], None],
        on_trouble: Callable[[Trouble], None] = lambda _: None,
    ) -> None:
        self._machine = machine
        self._held = started.held
        self._record = started.record
        self._on_exit = on_exit
        self._on_trouble = on_trouble
        self._has_trouble = False
        self._condition = Condition(machine, started.record, lambda: self.explain(None))
        self._memory_kills = machine.holder.memory_counter(started.held.pid)
        self._memory_kills_before = self._memory_kills()
        self._exited: Exited | None = None
        self._lock = threading.Lock()
        self._is_end_expected = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def exited(self) -> Exited | None:
        """Return how it ended, once it has. Costs nothing."""
        return self._exited

    def expect_end(self) -> None:
        """Say that we are about to stop it: its end is no incident any more."""
        self._is_end_expected = True

    def close(self) -> None:
        """Stop watching; returns when the thread is gone."""
        self._closing.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def explain(self, local_port: int | None) -> Trouble | None:
        """Say what is wrong with the gateway; ``None`` = it is fine, the failure is another's.

        Args:
            local_port: Of the connection that failed, when it may still be open.
        """
        if self._held.ended(0):
            return as_trouble(self._end())
        seen = self._machine.table.look(self._held.pid)
        if not isinstance(seen, Absence) and seen.state == "stopped":
            return self._trouble("gateway_suspended", "is suspended by a signal (state T)")
        return self._explain_port(local_port)

    def _explain_port(self, local_port: int | None) -> Trouble | None:
        record, machine = self._record, self._machine
        mine = {one.pid for one in session_of(machine, record.identity, record.run_id)}
        if local_port is not None:
            ours, theirs = (record.host, local_port), (record.host, record.port)
            owners = machine.sockets.peers(ours, theirs, mine)
            if owners and owners.isdisjoint(mine):
                return self._taken(owners)
        listeners = self._listeners()
        if not listeners:
            if self._held.ended(_DYING_S):
                return as_trouble(self._end())
            listeners = self._listeners()  # another may have come to the free port meanwhile
        if not listeners:
            return self._trouble(
                "gateway_draining_or_hung", f"lives but no longer listens on port {record.port}"
            )
        # With SO_REUSEPORT both may listen; which of them a closed connection went to is lost.
        others = frozenset().union(*(one.pids for one in listeners)) - mine
        return self._taken(others) if others else None

    def _listeners(self) -> list[Listener]:
        record = self._record
        listed = self._machine.sockets.listeners(record.port)
        return [one for one in listed if _reaches(one, record.host)]

    def _taken(self, pids: frozenset[int]) -> Trouble:
        listed = ", ".join(str(pid) for pid in sorted(pids))
        return self._trouble(
            "port_taken",
            f"lives, but PID {listed} answers on its port {self._record.port}",
            pids=sorted(pids),
        )

    def _trouble(self, name: TroubleClass, what: str, **detail: object) -> Trouble:
        return Trouble(
            incident_class=name,
            at_ns=self._machine.clock.now_ns(),
            since_ns=self._condition.fine_ns,
            summary=f"The gateway (PID {self._held.pid}) {what}.",
            detail={"pid": self._held.pid, **detail},
        )

    def _run(self) -> None:
        while not self._closing.is_set():
            if self._held.ended(_TURN_S):
                end = self._end()
                if not self._is_end_expected:
                    self._on_exit(end)
                return
            self._look()

    def _look(self) -> None:
        """Tell of trouble once; what turns out to be its death is told as that."""
        if self._has_trouble or self._is_end_expected:
            return
        trouble = self._condition.look()
        if trouble is not None and self._exited is None and not self._is_end_expected:
            self._has_trouble = True
            self._on_trouble(trouble)

    def _end(self) -> Exited:
        """Note the death once, whoever sees it first."""
        at_ns = self._machine.clock.now_ns()
        with self._lock:
            if self._exited is None:
                end = exit_of(self._machine, self._held, self._record)
                now, before = self._memory_kills(), self._memory_kills_before
                rose = now is not None and before is not None and now > before
                name = classify(end, oom_kills_rose=rose)
                by_memory = " when memory ran out" if name == "gateway_oom" else ""
                said = last_words(end)
                asked = self._stop_asked()
                how = _UNASKED if asked is None else _asked_words(asked)
                self._exited = Exited(
                    at_ns=at_ns,
                    exit=end,
                    incident_class=name,
                    summary=f"The gateway (PID {self._held.pid}) {described(end)}{by_memory}"
                    + how
                    + ("." if said is None else f", with the uncaught error `{said}`."),
                    stopped_by=None if asked is None else asked.pid,
                )
            return self._exited

    def _stop_asked(self) -> StopAsked | None:
        """Return who stopped it, from its record; `stop` may have put that away by now."""
        state, own = self._machine.state, self._record
        record = records.decode(state.read(records.record_name(own.id)) or b"")
        if isinstance(record, GatewayRecord):
            return record.stop_asked if record.identity == own.identity else None
        ending = records.decode_ending(state.read(records.ending_name(own.id)) or b"")
        if ending is None or ending.identity != own.identity:
            return None
        return ending.stop_asked


def _asked_words(asked: StopAsked) -> str:
    return f": `gateway-bench stop` (PID {asked.pid}) stopped it at {asked.at}"


def _reaches(listener: Listener, host: str) -> bool:
    return listener.host == host or listener.host in _ANY_HOST
