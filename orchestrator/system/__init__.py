"""The real system behind the ports. Only the wiring imports it."""

import sys
from pathlib import Path

from orchestrator.lifecycle import Machine
from orchestrator.ports import Holder, ProcessTable, TrafficMeter
from orchestrator.system.checkouts import GitCheckouts
from orchestrator.system.clock import SystemClock
from orchestrator.system.examiner import SystemExaminer
from orchestrator.system.facts import DiskFacts
from orchestrator.system.health import SocketProbe
from orchestrator.system.logfile import DiskLog
from orchestrator.system.machine_id import linux_machine_id, mac_machine_id
from orchestrator.system.premises import DiskPremises
from orchestrator.system.shim_files import DiskShims
from orchestrator.system.spawn import HelperSpawner
from orchestrator.system.state import DiskState
from orchestrator.system.worktrees import GitWorktrees
from orchestrator.watch_ports import Meter

__all__ = ["GitCheckouts", "SystemExaminer", "machine", "state_root"]


def machine(state_root: Path) -> Machine:
    """Build every port for this operating system.

    Args:
        state_root: The folder of records, locks, logs and shims; made when first written to.
    """
    state = DiskState(state_root)
    table: ProcessTable
    holder: Holder
    meter: Meter
    traffic: TrafficMeter
    if sys.platform == "darwin":  # pragma: no cover
        import select

        from orchestrator.system.mac_kqueue import Kqueue, MacHolder
        from orchestrator.system.mac_meter import MacMeter
        from orchestrator.system.mac_processes import MacTable, boot_session, libproc_reader, load
        from orchestrator.system.mac_sockets import MacSockets
        from orchestrator.system.mac_traffic import MacTraffic

        boot_id = boot_session(load("c"))
        machine_id = mac_machine_id(load("c"), boot_id)
        table = MacTable(libproc_reader(load("proc")), boot_id)
        holder = MacHolder(table, lambda pid: Kqueue(pid, select))
        meter = MacMeter(table)
        mac_sockets = MacSockets(table)
        sockets, peers = mac_sockets, mac_sockets.peers
        traffic = MacTraffic()
    else:
        from orchestrator.system.pidfd import LinuxHolder
        from orchestrator.system.procfs import ProcfsTable
        from orchestrator.system.procfs_meter import ProcfsMeter
        from orchestrator.system.sockets import LinuxSockets
        from orchestrator.system.traffic import LinuxTraffic

        machine_id = linux_machine_id()
        table = ProcfsTable()
        holder = LinuxHolder(table)
        meter = ProcfsMeter()
        linux_sockets = LinuxSockets()
        sockets, peers = linux_sockets, linux_sockets.peers
        traffic = LinuxTraffic()
    return Machine(
        clock=SystemClock(),
        table=table,
        holder=holder,
        sockets=sockets,
        traffic=traffic,
        probe=SocketProbe(peers),
        spawner=HelperSpawner(table),
        state=state,
        facts=DiskFacts(state),
        shims=DiskShims(state),
        log=DiskLog(),
        worktrees=GitWorktrees(),
        meter=meter,
        premises=DiskPremises(),
        machine_id=machine_id,
    )


def state_root(environ: dict[str, str], home: Path, platform: str = sys.platform) -> Path:
    """Return the folder of this user: ``$XDG_STATE_HOME/gwb``, on macOS the platform's place."""
    # A relative one is to be ignored (XDG Base Directory Specification).
    if Path(environ.get("XDG_STATE_HOME", "")).is_absolute():
        return Path(environ["XDG_STATE_HOME"]) / "gwb"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "gwb"
    return home / ".local" / "state" / "gwb"
