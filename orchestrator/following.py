"""Keep track of a gateway's members from second to second without reading the whole process table.

Only PIDs that are new are looked at, and only at their parent and session. The whole table is read
once a minute, for what slipped by: a daemon that left its session and its parent at once has
nothing but its marker left.
"""

import msgspec

from orchestrator.identity import Identity
from orchestrator.lifecycle import Machine, session_of
from orchestrator.ports import ProcessInfo
from orchestrator.watch_ports import Usage

_WHOLE_TABLE_EVERY = 60


class Members:
    """Who belongs to one gateway, and what each of them uses.

    Args:
        machine: The ports.
        leader: The gateway's first process.
        marker: The whole ``GWB_RUN`` of its processes; empty = they have none.
    """

    def __init__(self, machine: Machine, leader: Identity, marker: str) -> None:
        self._machine = machine
        self._leader = leader
        self._marker = marker
        self._seen: frozenset[int] = frozenset()
        self._members: dict[int, Identity] = {}
        self._turns = 0

    def usage(self) -> tuple[Usage, ...]:
        """Return what every living member uses; empty once the leader is gone."""
        pids = self._machine.meter.pids()
        if self._turns % _WHOLE_TABLE_EVERY == 0:
            self._take_all()
        else:
            self._take_new(pids - self._seen)
        self._turns += 1
        self._seen = pids
        found = {}
        for pid, identity in self._members.items():
            used = self._machine.meter.usage(pid) if pid in pids else None
            if used is not None and used.start_ticks == identity.start_ticks:
                found[pid] = used
        self._members = {pid: self._members[pid] for pid in found}
        return tuple(found.values()) if self._leader.pid in found else ()

    def infos(self) -> tuple[ProcessInfo, ...]:
        """Return the members of the last turn as the process table sees them now."""
        seen = (self._machine.table.look(pid) for pid in tuple(self._members))
        return tuple(one for one in seen if isinstance(one, ProcessInfo))

    def _take_all(self) -> None:
        session = session_of(self._machine, self._leader, self._marker)
        self._members |= {one.pid: one.identity for one in session}
        self._members[self._leader.pid] = self._leader

    def _take_new(self, pids: frozenset[int]) -> None:
        for pid in sorted(pids):
            kin = self._machine.meter.kin(pid)
            if kin is None:
                continue
            if kin.session == self._leader.pid or kin.parent in self._members:
                # Same boot and namespace as the leader: it is in the same table.
                self._members[pid] = msgspec.structs.replace(
                    self._leader, pid=pid, start_ticks=kin.start_ticks
                )
