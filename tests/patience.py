"""How long a test waits for what it means, and how: for the thing itself, never for a while."""

import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
PATIENCE_S = 180.0
"""A safety stop for a machine under load, never a bound that is tested."""
_PAUSE_S = 0.02


def until(
    fact: Callable[[], _T], *, pause_s: float = _PAUSE_S, so_far: Callable[[], object] = lambda: ""
) -> _T:
    """Ask until a fact is true, and return it.

    Args:
        fact: What is waited for; it may check on the way that it can still come.
        pause_s: Between two askings.
        so_far: What to say where it never comes.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not (found := fact()):
        assert time.monotonic() < deadline, so_far()
        time.sleep(pause_s)
    return found
