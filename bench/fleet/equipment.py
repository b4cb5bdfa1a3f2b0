"""What load processes are given of the run's secrets, packed for the way to them.

Endpoints hold the key. They travel from one process of ours to another over a channel that both
own, never through a file, an argument or the environment, and are unpacked nowhere else.
"""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.client.endpoint import Endpoint
from bench.executor import Equipment


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Where requests go and with what."""

    endpoint: Endpoint
    arms: Mapping[str, Endpoint] = field(default_factory=dict)
    """Target id → its own, where it is not ``endpoint``."""
    folder: Path
    """The working directory that sources of user cases count from."""


def packed(addresses: Addresses, *, journal: Path) -> Equipment:
    """Return the equipment of every load process of a run.

    Args:
        addresses: Of the run.
        journal: The leading one.
    """
    return Equipment(
        folder=journal.parent.absolute(), stem=journal.stem, secret_words=pickle.dumps(addresses)
    )


def unpacked(equipment: Equipment) -> Addresses:
    """Return what ``packed`` packed."""
    addresses = pickle.loads(equipment.secret_words)  # noqa: S301 - from the process that started us
    if not isinstance(addresses, Addresses):
        message = f"{type(addresses).__name__} is no equipment"
        raise TypeError(message)
    return addresses
