"""A PID and network namespace for one experiment: nothing in it can reach what is outside.

So ``pkill``, forced PIDs and killed launchers hit only what the experiment started, and whatever
is left at the end dies with the namespace.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_SIOCSIFFLAGS = 0x8914
_UP_AND_RUNNING = 0x41
# PIDs of one or two digits would be found in any text.
_FIRST_PID = 20_000
_UNSHARE = ("unshare", "--pid", "--net", "--fork", "--mount-proc", "--kill-child")


def why_not() -> str | None:
    """Say why no namespace can be made here; ``None`` = it can."""
    if sys.platform != "linux":
        return "PID namespaces are there on Linux only"
    try:
        done = subprocess.run([*_UNSHARE, "true"], capture_output=True, text=True, check=False)
    except OSError as missing:
        return f"`unshare`: {missing.strerror}"
    return None if done.returncode == 0 else done.stderr.strip()


def run_isolated(words: Sequence[str], *, timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Run ``python -m WORDS`` in namespaces of its own, below an init that reaps."""
    me = [sys.executable, "-m", "benchmarks.supervisors.namespace", *words]
    return subprocess.run(
        [*_UNSHARE, *me],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        wanted = struct.pack("16sH14x", b"lo", _UP_AND_RUNNING)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, wanted)


def _main(words: Sequence[str]) -> int:
    """Be PID 1: run one module, reap everybody, end with the module's status."""
    _loopback_up()
    Path("/proc/sys/kernel/ns_last_pid").write_text(str(_FIRST_PID))
    child = os.posix_spawn(sys.executable, [sys.executable, "-m", *words], os.environ)
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
