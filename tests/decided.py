"""What a machine that is short of processors may leave open: the signs stay, the verdicts wait."""

from collections.abc import Mapping
from typing import Any

_BUSY = ("this client may be what was measured", "the 95% interval holds the bound")


def is_decided(found: Mapping[str, Any]) -> bool:
    """Say whether the machine let this client measure; any other reason to leave it open fails.

    Args:
        found: A gate or a comparison, with its ``verdict`` and why it is that.
    """
    if found["verdict"] != "undecided":
        return True
    assert found["why"].startswith(_BUSY), found
    return False
