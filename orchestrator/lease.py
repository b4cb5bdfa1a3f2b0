"""When a gateway that nobody stops is to be ended. Pure."""

from orchestrator.records import Lease

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))


def due(lease: Lease, *, now_ns: int, used_ns: int) -> str | None:
    """Return why the gateway is to be ended now; ``None`` = not yet.

    Args:
        lease: Its limits.
        now_ns: Monotonic clock.
        used_ns: When somebody was last seen connected.
    """
    ttl_ns, idle_ns = left_ns(lease, now_ns=now_ns, used_ns=used_ns)
    if ttl_ns is not None and ttl_ns <= 0:
        return f"its time to live of {span(lease.ttl_s or 0.0)} was over"
    if idle_ns is not None and idle_ns <= 0:
        return f"nobody had been connected for {span(lease.idle_stop_s or 0.0)}"
    return None


def left_ns(lease: Lease, *, now_ns: int, used_ns: int) -> tuple[int | None, int | None]:
    """Return what is left of the time to live and of the idle time; ``None`` = no such limit.

    A new lease counts as use: whoever gave it wants the gateway.
    """
    idle_from = max(used_ns, lease.since_ns)
    ttl = None if lease.ttl_s is None else lease.since_ns + int(lease.ttl_s * 1e9) - now_ns
    idle = None if lease.idle_stop_s is None else idle_from + int(lease.idle_stop_s * 1e9) - now_ns
    return ttl, idle


def pause_s(lease: Lease, *, now_ns: int, used_ns: int) -> float:
    """Return how long to wait before looking again: often enough to be late by a 20th at most.

    Between a tenth of a second and ten seconds; a connection of an instant is still seen then.
    """
    limits = [one for one in (lease.ttl_s, lease.idle_stop_s) if one is not None]
    ends = [one / 1e9 for one in left_ns(lease, now_ns=now_ns, used_ns=used_ns) if one is not None]
    return max(0.1, min(10.0, *(limit / 20 for limit in limits), *ends))


def span(seconds: float) -> str:
    """Return a duration for people, in at most two units: ``1h 5m``, ``30m``, ``2.5s``."""
    left = max(0.0, seconds)
    parts = []
    for size, unit in _UNITS:
        if left >= size:
            parts.append(f"{int(left // size)}{unit}")
            left %= size
    if parts:
        parts += [f"{int(left)}s"] if int(left) else []
        return " ".join(parts[:2])
    return f"{left:.2g}s"
