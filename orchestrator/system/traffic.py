"""Who is connected to a port, from the kernel's table: also who was until a moment ago."""

import contextlib
from collections.abc import Collection
from pathlib import Path

from orchestrator.ports import Traffic

_ESTABLISHED = "01"
_LISTEN = "0A"


class LinuxTraffic:
    """Reads ``/proc/net/tcp`` and ``tcp6``.

    A closed connection stays in the table for a minute (TIME_WAIT), on the side that closed first;
    both sides of a loopback connection are in this table, so no short one is missed by a reader
    that comes more often.
    """

    def traffic(self, port: int, members: Collection[int]) -> Traffic | None:  # noqa: ARG002  # needs none
        """Return the connections to a port."""
        established, seen, was_read = 0, set(), False
        ending = f":{port:04X}"
        for name in ("tcp", "tcp6"):
            with contextlib.suppress(OSError):  # no IPv6, or not for us
                for line in Path(f"/proc/net/{name}").read_text().splitlines():
                    # Thousands of lines after a load test: only those of the port are taken apart.
                    if ending not in line:
                        continue
                    local, remote, state = line.split()[1:4]
                    if state == _LISTEN or not (local.endswith(ending) or remote.endswith(ending)):
                        continue
                    established += state == _ESTABLISHED and local.endswith(ending)
                    seen.add(f"{local} {remote}")
                was_read = True
        return Traffic(established=established, seen=frozenset(seen)) if was_read else None
