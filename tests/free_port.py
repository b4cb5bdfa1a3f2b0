"""Ports for a server that a test starts later, which nobody else takes meanwhile.

A port that the system gave and that was let go again is given to the next who asks: another worker's
test, or any connection. These lie below the range that it gives from, a part of it for each worker.
"""

import os
import socket
from itertools import count

_LOWEST, _OF_EACH = 10_000, 200
"""Below what our own starts take."""
_numbers = count(os.getpid())


def free_port() -> int:
    """Return a port of this machine that is free, and not given out again soon."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    for number in _numbers:
        port = _LOWEST + worker * _OF_EACH + number % _OF_EACH
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError
