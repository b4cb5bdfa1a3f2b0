"""The first process of the walled side: builds the room, starts the program, sees to its end.

It tells the other side by frames on a pipe that the program never has; see ``frames``.
"""

import os
import signal
import time
from collections.abc import Callable

from bench.warden import kernel, room
from bench.warden.becoming import become
from bench.warden.frames import ENDED, STARTED, frame
from bench.warden.leavings import changed_files, fingerprint, is_full
from bench.warden.order import Order


class Pipes:
    """Ends to write to."""

    __slots__ = ("err", "out", "report")

    def __init__(self, *, out: int, err: int, report: int) -> None:
        self.out = out
        self.err = err
        self.report = report


def live(order: Order, folder: str, join: Callable[[], None], pipes: Pipes) -> None:
    """Be the first process. Never returns; whatever goes wrong is told as a refusal.

    Args:
        order: What was asked.
        folder: Working directory, where the walls bring none of their own.
        join: Enters the groups that count.
        pipes: Where output and report go.
    """
    try:
        # The first process of a namespace gets only what it handles, and Python handles this one.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        kernel.die_with_parent(signal.SIGKILL)
        if order.walls == "seatbelt":
            signal.signal(signal.SIGTERM, _end_program)
        join()
        _move_in(order, folder)
        before = _write_files(order)
        program = _start(order, folder, pipes)
        _living.append(program)
        began_ns = time.perf_counter_ns()
        os.write(pipes.report, frame(b"S", STARTED.pack(program)))
        os.close(pipes.out)
        os.close(pipes.err)
        _see_to_the_end(order, (program, began_ns), pipes.report, before)
    except BaseException as fault:  # noqa: BLE001 - border of a process; the other side tells it
        said = str(fault) or type(fault).__name__
        _write_all(pipes.report, frame(b"R", said.encode(errors="replace")))
    os._exit(0)


_living: list[int] = []
"""The program's PID while nobody has reaped it."""


def _end_program(_number: int, _frame: object) -> None:
    """End the program, then ourselves: without namespaces only its parent is sure of its PID."""
    for pid in _living:
        os.kill(pid, signal.SIGKILL)
    os._exit(0)


def _move_in(order: Order, folder: str) -> None:
    if order.is_alone:
        os.chdir(folder)
    else:
        kernel.unshare("mount", "network", "ipc", "uts", "cgroup")
        room.build(order)
        os.chdir(room.BOX)
    if order.user is not None:
        os.setgroups([])
        os.setresgid(order.user, order.user, order.user)
        os.setresuid(order.user, order.user, order.user)
        kernel.die_with_parent(signal.SIGKILL)  # the change took it back
    kernel.hide_memory()


def _write_files(order: Order) -> dict[str, tuple[int, ...]]:
    """Write the files; return what tells later what changed."""
    os.umask(0o077)
    written = {}
    for path, content in order.files.items():
        if "/" in path:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as file:
            file.write(content)
        written[path] = fingerprint(os.stat(path))
    return written


def _start(order: Order, folder: str, pipes: Pipes) -> int:
    """Start the program; return its PID once it really is it."""
    stdin = _as_input(order.stdin)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            become(order, folder, (stdin, pipes.out, pipes.err, writer))
        except BaseException as fault:  # noqa: BLE001 - border of a process; the parent tells it
            os.write(writer, str(fault).encode(errors="replace"))
        os._exit(127)
    os.close(writer)
    os.close(stdin)
    with open(reader, "rb") as file:
        said = file.read()
    if said:
        raise OSError(said.decode(errors="replace"))
    return pid


def _as_input(content: bytes) -> int:
    """Return a descriptor to read ``content`` from: a nameless file, so that nobody has to feed."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("input", os.MFD_CLOEXEC)
    else:  # macOS
        name = ".input"
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.unlink(name)
    with open(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _see_to_the_end(
    order: Order, program: tuple[int, int], report: int, before: dict[str, tuple[int, ...]]
) -> None:
    pid, began_ns = program
    status, cpu_ns = _reap_until(pid)
    ended_ns = time.perf_counter_ns()
    if not order.is_alone:
        _end_all_others()
    owned = (".",) if order.is_alone else room.OWNED
    is_over = is_full(owned, order.file_bytes)
    _write_all(report, frame(b"E", ENDED.pack(status, cpu_ns, began_ns, ended_ns, is_over)))
    if order.collect:
        for path, content in changed_files(before):
            name = path.encode(errors="surrogateescape")
            _write_all(report, frame(b"F", name + b"\0" + content))
    os.write(report, frame(b"."))


def _reap_until(program: int) -> tuple[int, int]:
    """Reap whatever ends until the program does; return its status and the time of its processor."""
    while True:
        pid, status, usage = os.wait4(-1, 0)
        if pid == program:
            _living.clear()
            return status, int((usage.ru_utime + usage.ru_stime) * 1e9)


def _end_all_others() -> None:
    """End what the program left: everything in this namespace but its first process."""
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.wait()
    except (ProcessLookupError, ChildProcessError):
        return


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
