"""Who is connected to a port on macOS, process by process. Not confirmed on a Mac yet.

Closed connections belong to no process there: one that begins and ends between two readings is
missed, and a gateway with nothing but such ones may count as idle.
"""

from collections.abc import Collection, Sequence

import psutil

from orchestrator.ports import Traffic


class MacTraffic:
    """Asks the gateway's own processes."""

    def traffic(self, port: int, members: Collection[int]) -> Traffic | None:
        """Return the connections to a port; ``None`` when none of the processes can be asked."""
        seen: set[str] = set()
        was_read = False
        for pid in members:
            try:
                found = psutil.Process(pid).net_connections(kind="tcp")
            except (psutil.Error, OSError):  # ended meanwhile, or not for this user
                continue
            was_read = True
            seen |= {
                f"{one.laddr} {one.raddr}"
                for one in found
                if one.status == psutil.CONN_ESTABLISHED and _port(one.laddr) == port
            }
        return Traffic(established=len(seen), seen=frozenset(seen)) if was_read else None


def _port(address: Sequence[str | int]) -> int | None:
    """Return the port of an address; a socket without one has an empty tuple."""
    return int(address[1]) if address else None
