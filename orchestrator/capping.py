"""Cap the logs that nobody watches: those of gateways that were merely started.

A job looks at its gateway's log all the time, and so does a minder. For the others whoever comes by
does, whichever gateway of this user he came for: a process more for each start would be dearer.
"""

from pathlib import Path

from orchestrator.lifecycle import Machine, find_all
from orchestrator.records import LOG_LIMIT_BYTES, GatewayRecord


def cap_logs(machine: Machine) -> None:
    """Empty each log of a gateway on record that is too large; its end is kept beside it."""
    for record in find_all(machine):
        if isinstance(record, GatewayRecord):
            machine.log.guard(Path(record.log), LOG_LIMIT_BYTES)
