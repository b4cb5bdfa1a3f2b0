"""How many connections the system lets this process have: a limit of the rig, not of the gateway."""

import resource
from contextlib import suppress

_OTHER_FILES = 64
"""Journal, standard streams, the event loop's own, and the libraries'."""
_ENOUGH = 1_048_576


def most_connections() -> int:
    """Return how many connections may be open at a time, the soft limit raised to the hard one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # macOS has further limits of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    limit = _ENOUGH if soft == resource.RLIM_INFINITY else soft
    return max(1, limit - _OTHER_FILES)
