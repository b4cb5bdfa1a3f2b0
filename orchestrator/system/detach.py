"""The helper between us and a gateway: forks it into a session of its own, then goes away.

Its source is sent to ``python -I -S`` on stdin: forking in our own process, which has threads,
would be unsafe, and a command line of ours shows nothing. Standard library only.
"""

import errno
import json
import os
import resource
import signal
import sys
import time
from typing import Any

# macOS refuses more than OPEN_MAX although its hard limit says unlimited.
_MOST_DESCRIPTORS = 10_240 if sys.platform == "darwin" else 65_536
_ADOPTION_TURNS = 2_000


def adopter() -> int:
    """Return the parent that an orphan of ours gets, by making one."""
    mine, theirs = os.pipe()
    middle = os.fork()
    if middle == 0:  # pragma: no cover  # leaves by os._exit
        parent = os.getpid()
        if os.fork() == 0:
            turns = 0
            while os.getppid() == parent and turns < _ADOPTION_TURNS:
                time.sleep(0.001)
                turns += 1
            os.write(theirs, str(os.getppid()).encode())
        os._exit(0)
    os.close(theirs)
    os.waitpid(middle, 0)
    with os.fdopen(mine) as answer:
        return int(answer.read())


def spawn(order: dict[str, Any]) -> None:
    """Fork the gateway, say its PID, let it go on word, say how exec went; never reap it."""
    faults, fault = os.pipe()
    pid = os.fork()
    if pid == 0:  # pragma: no cover  # becomes the gateway
        os.close(faults)
        _become(order, fault)
    os.close(fault)
    _say({"pid": pid})
    with os.fdopen(faults) as refused:
        text = refused.read()
    if text:
        os.waitpid(pid, 0)
    _say(json.loads(text) if text else {})


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


# Nothing between fork and exec can be measured; tests look at the process that comes out of it.
def _become(order: dict[str, Any], fault: int) -> None:  # pragma: no cover
    step, path = "setsid", order["executable"]
    try:
        # The helper leads a session already: this second one has the gateway's own PID.
        os.setsid()
        if os.read(order["go"], 1) != b"g":
            os._exit(0)  # whoever started us is gone or changed its mind
        step, path = "open", order["log"]
        _connect_streams(order["log"])
        step, path = "chdir", order["folder"]
        os.chdir(order["folder"])
        step, path = "execve", order["executable"]
        _defaults()
        _close_all_but(fault)
        os.execve(order["executable"], order["argv"], order["environment"])  # noqa: S606  # no shell
    except Exception as refused:  # noqa: BLE001  # the last word of this process, whatever it is
        # A zero byte in an argument is a ValueError: for the caller it is refused all the same.
        number = getattr(refused, "errno", None) or errno.EINVAL
        said = getattr(refused, "strerror", None) or str(refused)
        answer = {"step": step, "path": path, "errno": number, "said": said}
        os.write(fault, json.dumps(answer).encode())
    os._exit(127)


def _connect_streams(log: str) -> None:  # pragma: no cover
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    written = os.open(log, flags, 0o600)
    nothing = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((nothing, 0), (written, 1), (written, 2)):
        os.dup2(source, target)


def _defaults() -> None:  # pragma: no cover
    # Python ignores SIGPIPE and SIGXFSZ, a shell's `&` ignores SIGINT and SIGQUIT, and exec keeps
    # what is ignored.
    for number in signal.valid_signals():
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):
                continue  # reserved by the C library
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _close_all_but(kept: int) -> None:  # pragma: no cover
    for name in os.listdir("/dev/fd"):  # noqa: PTH208  # pathlib is an import too many here
        number = int(name)
        if number > 2 and number != kept:  # noqa: PLR2004  # 0, 1, 2 are its streams
            try:
                os.close(number)
            except OSError:
                continue  # the descriptor of the listing itself


def main(order: dict[str, Any]) -> None:
    """Do what is asked."""
    if order["do"] == "adopter":
        _say({"pid": adopter()})
    else:
        spawn(order)
