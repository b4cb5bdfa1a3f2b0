"""What a machine that is short of processors may leave open: the signs stay, the verdicts wait."""

from collections.abc import Mapping
from typing import Any

_BUSY = (
    "this client may be what was measured",
    "the 95% interval holds the bound",
    "the same endpoint against itself differed",
)


def is_decided(found: Mapping[str, Any]) -> bool:
    """Say whether the machine let this client measure; any other reason to leave it open fails.

    Args:
        found: A gate or a comparison, with its ``verdict`` and why it is that.
    """
    if found["verdict"] != "undecided":
        return True
    assert found["why"].startswith(_BUSY), found
    return False


def is_told(found: Mapping[str, Any], verdict: str) -> bool:
    """Say whether a difference was told as ``verdict``; where it was not, its interval says why.

    One pair of few that the machine turned round makes the interval hold 0.

    Args:
        found: A comparison of two arms that do differ.
        verdict: ``higher`` or ``lower``, which they do.
    """
    if not is_decided(found):
        return False
    low, high = found["interval"]
    if low <= 0 <= high:
        assert found["verdict"] == "within", found
        return False
    assert found["verdict"] == verdict, found
    return True
