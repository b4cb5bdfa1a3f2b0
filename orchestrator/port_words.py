"""Whether a gateway that died says that its port was taken. Pure.

It may complain of another port of its own (metrics, a debugger): a start on yet another port would
not help it.
"""

import re
from collections.abc import Iterable

_WORDS = ("eaddrinuse", "address already in use")
# `127.0.0.1:4001`, `('127.0.0.1', 4001)`, `port: 4001`; not `[Errno 98]`, no part of a time.
_NAMED = re.compile(r"(?:[:,]|\bport)\s*(\d{4,5})\b", re.IGNORECASE)


def says_port_is_taken(lines: Iterable[str], port: int) -> bool:
    """Say whether the last words of a gateway mean that its port was in use.

    Args:
        lines: The end of its log.
        port: The one that it was given.
    """
    said = [line for line in lines if any(word in line.lower() for word in _WORDS)]
    named = {int(one) for line in said for one in _NAMED.findall(line)}
    return bool(said) and (not named or port in named)
