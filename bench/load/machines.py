"""Where load processes run, as typed. Pure."""

import re

_HOST_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):\d{1,5}")

_LEAST_CPUS = 0.0001
"""Ray counts in ten thousandths."""


def ray_address(text: str) -> str:
    """Return the address of a Ray cluster: ``auto``, or its head as ``HOST:PORT``.

    Raises:
        ValueError: It is neither. ``ray://`` is Ray Client, whose calls go through a proxy.
    """
    address = text.strip()
    if address != "auto" and not _HOST_PORT.fullmatch(address):
        raise ValueError("`HOST:PORT` of the cluster's head, or `auto`, is needed")
    return address


def read_cpus(text: str) -> float:
    """Return how many CPUs a load process asks for: above 0, at most 1, as Ray counts them.

    Raises:
        ValueError: It is none. One load process is one event loop: it can't use more than one.
    """
    try:
        cpus = float(text)
    except ValueError:
        cpus = 0.0
    if not _LEAST_CPUS <= cpus <= 1:
        raise ValueError("a number above 0, at most 1, is needed")
    return cpus
