"""What owning a process needs from the system; each has a real adapter and a fake.

An adapter says what it saw. "Not visible" is never reported as "not there".
Everybody imports from here; the modules below it only sort what belongs together.
"""

from orchestrator.ports.builds import (
    Build,
    BuildFacts,
    Checkouts,
    Commit,
    Worktree,
    Worktrees,
)
from orchestrator.ports.clock import Clock
from orchestrator.ports.health import HealthAnswer, HealthProbe, HealthQuestion
from orchestrator.ports.processes import (
    Absence,
    Held,
    Holder,
    ProcessDetail,
    ProcessInfo,
    ProcessTable,
)
from orchestrator.ports.sockets import Listener, Sockets, Traffic, TrafficMeter
from orchestrator.ports.spawning import Birth, LogFile, ShimFiles, Spawner, SpawnOrder
from orchestrator.ports.state import Lock, SoleLock, StateFolder, Use

__all__ = [
    "Absence",
    "Birth",
    "Build",
    "BuildFacts",
    "Checkouts",
    "Clock",
    "Commit",
    "HealthAnswer",
    "HealthProbe",
    "HealthQuestion",
    "Held",
    "Holder",
    "Listener",
    "Lock",
    "LogFile",
    "ProcessDetail",
    "ProcessInfo",
    "ProcessTable",
    "ShimFiles",
    "Sockets",
    "SoleLock",
    "SpawnOrder",
    "Spawner",
    "StateFolder",
    "Traffic",
    "TrafficMeter",
    "Use",
    "Worktree",
    "Worktrees",
]
