"""The machine itself: clock, load, disks, and whether locks and process handles work here."""

import fcntl
import os
import platform
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Literal

from orchestrator.doctor_ports import Address, FolderFacts, SystemFacts

_STEPS = 2_000
_VERSION_S = 10.0
# Locks of these may be kept by one machine, by none, or for a process that is long gone.
_REMOTE = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "afpfs")
)
_REMOTE_FUSE = ("fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone", "fuse.glusterfs")


class SystemExaminer:
    """Examines this machine."""

    def system(self) -> SystemFacts:
        """Return what there is to say about the machine now."""
        holds_by, why_not = _holds_by()
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return SystemFacts(
            name=f"{platform.system()} {platform.release()}",
            holds_by=holds_by,
            why_not=why_not,
            clock_ns=_clock_step_ns(),
            load=_load(),
            cores=len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1,
            memory_kills=_memory_kills(),
            open_files=None if soft == resource.RLIM_INFINITY else soft,
        )

    def folder(self, path: Path) -> FolderFacts:
        """Try a folder."""
        there = next((one for one in (path, *path.parents) if one.is_dir()), Path("/"))
        kind = _filesystem(there)
        is_local = None if kind is None else kind not in _REMOTE and kind not in _REMOTE_FUSE
        try:
            with tempfile.NamedTemporaryFile(dir=there, prefix=".gwb-") as file:
                os.fsync(file.fileno())
                lock_fault = _lock_fault(file.name)
        except OSError as refused:
            return FolderFacts(
                write_fault=f"{refused.strerror} in `{there}`", filesystem=kind, is_local=is_local
            )
        return FolderFacts(lock_fault=lock_fault, filesystem=kind, is_local=is_local)

    @contextmanager
    def connection(self) -> Iterator[tuple[Address, Address]]:
        """Connect to ourselves."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = server.getsockname()[:2]
            with socket.create_connection(address) as near:
                far, _ = server.accept()
                with far:
                    yield near.getsockname()[:2], address

    def version(self, program: Path) -> str | None:
        """Return the first line that a program says for ``--version``."""
        try:
            said = subprocess.run(
                [str(program), "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_VERSION_S,
                check=False,
            ).stdout.decode(errors="replace")
        except (OSError, subprocess.TimeoutExpired):
            return None
        return next(iter(said.splitlines()), "").strip() or None


def _holds_by() -> tuple[Literal["pidfd", "kqueue", "nothing"], str | None]:
    if sys.platform == "darwin":  # pragma: no cover
        return "kqueue", None
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as refused:  # an older kernel, or a sandbox
        return "nothing", refused.strerror
    return "pidfd", None


def _clock_step_ns() -> float:
    """Return the smallest step above 0 among some thousand readings."""
    stamps = [time.perf_counter_ns() for _ in range(_STEPS)]
    steps = [later - one for one, later in pairwise(stamps) if later > one]
    return float(min(steps, default=time.get_clock_info("perf_counter").resolution * 1e9))


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def _memory_kills() -> str | None:
    if sys.platform == "darwin":  # pragma: no cover
        return None
    from orchestrator.system.pidfd import memory_file

    path, _ = memory_file(os.getpid())
    return str(path) if path.is_file() else None


def _lock_fault(name: str) -> str | None:
    """Lock a file through two descriptors: the second has to be refused, and let in afterwards."""
    first, second = os.open(name, os.O_RDWR), os.open(name, os.O_RDWR)
    try:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(first)
            first = -1
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return None
    except OSError as refused:
        return refused.strerror or str(refused)
    else:
        return "two holders got the same lock"
    finally:
        for descriptor in (first, second):
            if descriptor >= 0:
                os.close(descriptor)


def _filesystem(path: Path) -> str | None:
    """Return the kind of the file system that holds a folder: the longest mount point above it."""
    real = str(path.resolve())
    best, kind = "", None
    try:
        lines = Path("/proc/self/mounts").read_text(errors="replace").splitlines()
    except OSError:  # macOS has no such table
        return None
    for line in lines:
        at, found = line.split()[1:3]
        at = at.replace("\\040", " ")
        is_above = real == at or real.startswith(at.rstrip("/") + "/")
        if is_above and len(at) >= len(best):
            best, kind = at, found
    return kind
