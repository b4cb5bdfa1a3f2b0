"""What the processes of a program use, where no control group counts it: looked at, from outside."""

import os

_PAGE = os.sysconf("SC_PAGE_SIZE")
_KIB = 1024
_MOST = 1_000


def descendants(first: int) -> list[int]:
    """Return the PIDs of all processes below ``first``, itself left out.

    In a PID namespace that is all there are: who loses its parent becomes a child of the first.
    """
    found: list[int] = []
    waiting = [first]
    while waiting and len(found) < _MOST:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def tasks(pids: list[int]) -> int:
    """Return how many threads the processes have."""
    total = 0
    for pid in pids:
        try:
            total += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:  # ended meanwhile
            continue
    return total


def memory(pids: list[int], enough: int) -> int:
    """Return the bytes that the processes hold in memory.

    Shared pages count once only when it matters: reading that costs a walk through page tables.

    Args:
        pids: Processes.
        enough: Below that many bytes an upper bound is good enough.
    """
    upper = sum(_number(f"/proc/{pid}/statm", 1) * _PAGE for pid in pids)
    return upper if upper < enough else sum(_share(pid) for pid in pids)


def _children(pid: int) -> list[int]:
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:  # ended meanwhile, or a kernel without that file
        pass
    return found


def _number(path: str, index: int) -> int:
    try:
        with open(path) as file:
            return int(file.read().split()[index])
    except (OSError, IndexError, ValueError):
        return 0


def _share(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * _KIB
    except OSError:
        pass
    return _number(f"/proc/{pid}/statm", 1) * _PAGE
