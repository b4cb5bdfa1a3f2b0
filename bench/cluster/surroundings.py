"""The environment of the process that drives Ray, and of a cluster that it starts."""

from collections.abc import Collection, Mapping
from pathlib import Path
from tempfile import gettempdir

_LONGEST_ROOT = 20
"""Ray puts 70 characters behind it, and the path of a socket has 103 at most (macOS)."""


def without(environment: Mapping[str, str], withheld: Collection[str]) -> dict[str, str]:
    """Return the variables but those that hold one of these values.

    A cluster that is started here hands its environment to each of its processes, and Ray's own
    diagnostics may show an environment.
    """
    hidden = [value for value in withheld if value]
    return {
        name: text
        for name, text in environment.items()
        if not any(value in text for value in hidden)
    }


def short_root() -> str:
    """Return a folder for temporary files whose path is short enough for Ray's sockets."""
    usual = gettempdir()
    return usual if len(usual) <= _LONGEST_ROOT else "/tmp"  # noqa: S108 - mkdtemp makes the folder


def private_cluster(folder: Path, *, token: str) -> dict[str, str]:
    """Return what a cluster of our own is started with.

    Args:
        folder: Sockets and logs go there; a short path, as those of sockets are.
        token: Who has it may use the cluster. Without one Ray writes its own into the home folder.
    """
    return {
        "RAY_TMPDIR": str(folder),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": token,
        "RAY_USAGE_STATS_ENABLED": "0",
    }
