"""Ends what a process that was killed has left: everything of the session that it was the leader of."""

import contextlib
import os

import psutil

_ROUNDS = 100
_PAUSE_S = 0.05


def end_session(leader: int) -> int:
    """Kill what is left of a session and return when all is gone; return how many there were.

    Ray's processes start further ones while they are being ended, so it is looked again until
    nothing is found. While one member lives, the system gives the leader's PID to nobody else.

    Args:
        leader: PID of a process of ours that was started with a session of its own and has ended.
    """
    ended: set[psutil.Process] = set()
    for _ in range(_ROUNDS):
        found = [process for process in psutil.process_iter() if _is_of(process.pid, leader)]
        if not found:
            break
        ended.update(found)
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()  # psutil holds the start time against a PID that was reused
        psutil.wait_procs(found, timeout=_PAUSE_S)
    return len(ended)


def _is_of(pid: int, leader: int) -> bool:
    try:
        return os.getsid(pid) == leader and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except (OSError, psutil.Error):
        return False
