"""What a gateway's processes use together, from what each of them uses. Pure.

Megabytes are 10^6 bytes. What one member does not show is unknown of them all: half a sum would
read as a small one.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from orchestrator.watch_ports import Connections, Usage

_BYTES_PER_MB = 1e6


class CpuTally:
    """Adds up the processor time of members that come and go; it never falls.

    A member that ended keeps counting: in its parent's time of waited-for children, where the
    parent is a member and waited, else by what it had used when it was last seen.
    """

    def __init__(self) -> None:
        self._before: dict[int, Usage] = {}
        self._retired_ms = 0.0

    def total_ms(self, members: Sequence[Usage]) -> float | None:
        """Return the processor time of all members so far; ``None`` when one can't be seen.

        Args:
            members: Everyone who lives now.
        """
        living = {one.pid: one for one in members}
        self._retire(living)
        self._before = living
        parts = [_whole_ms(one) for one in members]
        if not parts or None in parts:
            return None
        return self._retired_ms + sum(part for part in parts if part is not None)

    def _retire(self, living: dict[int, Usage]) -> None:
        lost: dict[int, float] = defaultdict(float)
        for pid, one in self._before.items():
            successor = living.get(pid)
            if successor is None or successor.start_ticks != one.start_ticks:
                lost[one.parent] += _whole_ms(one) or 0.0
        for parent, lost_ms in lost.items():
            before, now = self._before.get(parent), living.get(parent)
            took_over_ms = 0.0
            if before is not None and now is not None:
                took_over_ms = (now.waited_cpu_ms or 0.0) - (before.waited_cpu_ms or 0.0)
            self._retired_ms += max(0.0, lost_ms - took_over_ms)


def _whole_ms(one: Usage) -> float | None:
    return None if one.cpu_ms is None else one.cpu_ms + (one.waited_cpu_ms or 0.0)


def sample_values(
    members: Sequence[Usage],
    *,
    cpu_ms: float | None,
    proportional_bytes: int | None = None,
    connections: Connections | None = None,
) -> dict[str, float]:
    """Return one sample by the names of the journal; what is unknown is left out.

    Args:
        members: Everyone who lives now.
        cpu_ms: Processor time of all members since they were started.
        proportional_bytes: PSS of all; ``None`` = not asked this time, or not known.
        connections: ``None`` likewise.
    """
    resident = total(one.resident_bytes for one in members)
    found: dict[str, float | None] = {
        "processes": float(len(members)),
        "cpuMs": cpu_ms,
        "rssMb": None if resident is None else resident / _BYTES_PER_MB,
        "threads": total(one.threads for one in members),
        "descriptors": total(one.descriptors for one in members),
        "pssMb": None if proportional_bytes is None else proportional_bytes / _BYTES_PER_MB,
    }
    if connections is not None:
        found["connectionsIn"] = connections.incoming
        found["connectionsWaiting"] = connections.waiting
        found["connectionsOut"] = connections.outgoing
    return {name: float(value) for name, value in found.items() if value is not None}


def total(parts: Iterable[int | None]) -> int | None:
    """Return the sum; ``None`` when a part is unknown or there is none."""
    known = list(parts)
    if not known or None in known:
        return None
    return sum(part for part in known if part is not None)


class Extremes:
    """First, largest and last of each value over many samples, in the names of result documents."""

    def __init__(self) -> None:
        self._first: Mapping[str, float] = {}
        self._last: Mapping[str, float] = {}
        self._largest: dict[str, float] = {}
        self._count = 0
        self._span_ns = (0, 0)

    def take(self, at_ns: int, values: Mapping[str, float]) -> None:
        """Take the next sample."""
        if not self._count:
            self._first, self._span_ns = values, (at_ns, at_ns)
        self._count += 1
        self._last, self._span_ns = values, (self._span_ns[0], at_ns)
        for name, value in values.items():
            self._largest[name] = max(value, self._largest.get(name, value))

    def facts(self) -> dict[str, float | None] | None:
        """Return what they amount to; ``None`` = there was no sample."""
        if not self._count:
            return None
        begun, ended = self._first.get("cpuMs"), self._last.get("cpuMs")
        return {
            "samples": self._count,
            "spanMs": (self._span_ns[1] - self._span_ns[0]) / 1e6,
            "cpuMs": None if begun is None or ended is None else ended - begun,
            "idleRssMb": self._first.get("rssMb"),
            "peakRssMb": self._largest.get("rssMb"),
            "finalRssMb": self._last.get("rssMb"),
            "idlePssMb": self._first.get("pssMb"),
            "peakPssMb": self._largest.get("pssMb"),
            "finalPssMb": self._last.get("pssMb"),
            "maxProcesses": self._largest.get("processes"),
            "maxThreads": self._largest.get("threads"),
            "maxDescriptors": self._largest.get("descriptors"),
            "maxConnectionsIn": self._largest.get("connectionsIn"),
            "maxConnectionsOut": self._largest.get("connectionsOut"),
        }
