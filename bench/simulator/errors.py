"""What keeps the simulator from starting, and what it refuses to answer.

SimulatorError (1)
├── PortTaken (3)       somebody else listens there
├── AddressUnusable (3) the host is not one of this machine
└── LogUnwritable (5)   folder gone, disk full, no permission
RequestRefused          not an exit: becomes an HTTP answer in OpenAI's error shape
"""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class SimulatorError(Exception):
    """The program ends."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class PortTaken(SimulatorError):
    """The port has a listener already."""

    exit_code = 3

    def __init__(self, host: str, port: int) -> None:
        super().__init__(
            f"port {port} on {host} is taken by another process",
            hint="name another port, or `--port 0` for a free one",
        )


class AddressUnusable(SimulatorError):
    """The host can't be listened on."""

    exit_code = 3

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(
            f"{host} port {port} can't be listened on: {reason}",
            hint="`--host 127.0.0.1` is always there",
        )


class LogUnwritable(SimulatorError):
    """The request log can't be written."""

    exit_code = 5

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"request log `{path}` can't be written: {reason}",
            hint="name a file in a folder that you may write to",
        )


class RequestRefused(Exception):
    """A request that gets an error as its answer.

    Attributes:
        status: HTTP status.
        code: OpenAI's ``error.code``.
        message: ``error.message``: what was wrong, and where.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def near(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean …?`` for the nearest known names, or nothing."""
    matches = get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(f'`{match}`' for match in matches)}?" if matches else ""
