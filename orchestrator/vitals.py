"""How a gateway on record is doing: age, memory, connections, and what is left of its time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator import records
from orchestrator.lease import left_ns, span
from orchestrator.lifecycle import Machine, session_of
from orchestrator.minding import minder_of
from orchestrator.records import GatewayRecord

_MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """One gateway now; ``None`` = not to be seen, or no such limit."""

    age_s: float | None
    resident_bytes: int | None
    """Of all its processes; what they share counts for each."""
    processes: int
    connections: int | None
    ttl_left_s: float | None
    idle_left_s: float | None
    minder_pid: int | None


def vitals(machine: Machine, record: GatewayRecord) -> Vitals:
    """Look at the session, the port and the lease; asks the gateway nothing."""
    members = session_of(machine, record.identity, record.run_id)
    sizes = [machine.table.detail(one.pid).resident_bytes for one in members]
    known = [size for size in sizes if size is not None]
    leader = next((one for one in members if one.identity == record.identity), None)
    now = machine.traffic.traffic(record.port, [one.pid for one in members])
    minder = minder_of(machine, record)
    ttl_s, idle_s = _left_s(machine, record, is_in_use=now is not None and now.established > 0)
    return Vitals(
        age_s=None if leader is None else leader.age_s,
        resident_bytes=sum(known) if known else None,
        processes=len(members),
        connections=None if now is None else now.established,
        ttl_left_s=ttl_s,
        idle_left_s=idle_s,
        minder_pid=None if minder is None else minder.pid,
    )


def _left_s(
    machine: Machine, record: GatewayRecord, *, is_in_use: bool
) -> tuple[float | None, float | None]:
    lease = record.lease
    if lease is None:
        return None, None
    now_ns = machine.clock.now_ns()
    noted = records.decode_usage(machine.state.read(records.usage_name(record.id)))
    used_ns = now_ns if is_in_use else lease.since_ns if noted is None else noted.used_ns
    left = left_ns(lease, now_ns=now_ns, used_ns=used_ns)
    ttl_s, idle_s = (None if one is None else max(0.0, one / 1e9) for one in left)
    return ttl_s, idle_s


def vitals_lines(now: Vitals, record: GatewayRecord) -> tuple[str, ...]:
    """Return them for people, one fact a line."""
    age = "" if now.age_s is None else f"{span(now.age_s)} old, "
    many = f" in {now.processes} processes" if now.processes > 1 else ""
    memory = (
        "memory not visible"
        if now.resident_bytes is None
        else f"{now.resident_bytes / _MIB:.0f} MiB resident{many}"
    )
    open_now = "connections not visible" if now.connections is None else _connected(now.connections)
    return (f"now       {age}{memory}, {open_now}", *end_lines(now, record))


def end_lines(now: Vitals, record: GatewayRecord) -> tuple[str, ...]:
    """Say when it ends by itself, in a line; in none where it does not."""
    return () if record.lease is None else (f"ends      {_end(now)}",)


def _connected(count: int) -> str:
    return f"{count or 'no'} connection{'' if count == 1 else 's'}"


def _end(now: Vitals) -> str:
    if now.minder_pid is None:
        return "not by itself: what should see to it is gone; start it again with its limits"
    parts = []
    if now.ttl_left_s is not None:
        parts.append(f"in {span(now.ttl_left_s)} (--ttl)")
    if now.idle_left_s is not None:
        parts.append(f"after {span(now.idle_left_s)} without a connection (--idle-stop)")
    return f"{' or '.join(parts)}, by PID {now.minder_pid}"


def vitals_facts(now: Vitals) -> Mapping[str, Any]:
    """Return them for ``--json``."""
    return {
        "ageS": now.age_s,
        "residentBytes": now.resident_bytes,
        "processes": now.processes,
        "connections": now.connections,
        "ttlLeftS": now.ttl_left_s,
        "idleLeftS": now.idle_left_s,
        "minderPid": now.minder_pid,
    }
