"""How the gateway of a recorded run was started: the header of its journal."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read_launch(journal: Path) -> Mapping[str, Any] | None:
    """Return how the run's gateway was started; ``None`` = the run had none."""
    with journal.open("rb") as file:
        try:
            header = json.loads(file.readline())
        except ValueError:
            return None
    launch = header.get("launch") if isinstance(header, dict) else None
    return launch if isinstance(launch, dict) else None
