"""Whether a port can be bound right now, on each kind of address."""

import errno
import socket

_PLACES = (
    (socket.AF_INET, "127.0.0.1"),
    (socket.AF_INET, "0.0.0.0"),  # noqa: S104  # bound for an instant to learn whether it is free
    (socket.AF_INET6, "::1"),
    (socket.AF_INET6, "::"),
)


def bind_fault(port: int) -> str | None:
    """Bind for an instant to each kind of address; return the first refusal.

    With SO_REUSEADDR, so that connections in TIME_WAIT are no obstacle, as for any server; on
    both systems a listener on the same address still is.
    """
    for family, host in _PLACES:
        try:
            trial = socket.socket(family, socket.SOCK_STREAM)
        except OSError:  # no IPv6 here
            continue
        with trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                trial.bind((host, port))
            except OSError as refused:
                if refused.errno == errno.EADDRNOTAVAIL:  # IPv6 is switched off
                    continue
                return f"{host} can't be bound: {refused.strerror}"
    return None
