"""Whether the process that adopts our orphans lives longer than we do. Pure.

PPID 1 is what one expects; ``systemd --user``, a WSL relay or a container's init are as good.
A shell or launcher that made itself a subreaper is not: it ends with the session.
"""

import re

from orchestrator.errors import NotDetached
from orchestrator.records import Adopter

_INIT_LIKE = re.compile(
    r"(init|systemd|launchd|tini|dumb-init|docker-init|catatonit|s6-svscan|runit|openrc-init"
    r"|Relay\(\d+\)|SessionLeader)"
)


def judge(pid: int, name: str, *, launcher: int) -> Adopter:
    """Accept the adopter, or say that the gateway would die with it.

    Args:
        pid: Who adopted a throwaway orphan; 0 = somebody outside of this PID namespace.
        name: Its name.
        launcher: Our own PID.

    Raises:
        NotDetached: It is ourselves, or a subreaper that is no init.
    """
    is_outside_or_first = pid in (0, 1)
    if pid == launcher or not (is_outside_or_first or _INIT_LIKE.fullmatch(name)):
        raise NotDetached(pid, name)
    return Adopter(pid=pid, name=name)
