"""The use cases on the real system: the only module that knows `orchestrator.system`."""

import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from orchestrator import system
from orchestrator.bringing import run_marker
from orchestrator.doctor_ports import Examiner
from orchestrator.lifecycle import Machine
from orchestrator.ports import Checkouts
from orchestrator.trust import TrustStore


def machine(without_keys: Callable[[str], str] = str) -> Machine:
    """Return this machine, with the user's state folder.

    Args:
        without_keys: Takes the keys out of a text that the command knows by then.
    """
    root = system.state_root(dict(os.environ), Path.home())
    return replace(system.machine(root), without_keys=without_keys)


def examiner() -> Examiner:
    """Return what examines this machine."""
    return system.SystemExaminer()


def checkouts() -> Checkouts:
    """Return what makes working trees of a commit."""
    return system.GitCheckouts()


def machine_at(root: str) -> Machine:
    """Return this machine, with a state folder that is known."""
    return system.machine(Path(root))


def trust_store(here: Machine) -> TrustStore:
    """Return what this user has agreed to."""
    return TrustStore(here.state.root)


def new_run_id(here: Machine) -> str:
    """Return a run id that nobody has used: date, time, six random hex digits."""
    return run_marker(here.clock.utcnow().isoformat(), secrets.token_hex(8))
