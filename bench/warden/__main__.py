"""This machine's side: takes the order, starts the walled side, holds it to its limits, clears up."""

import marshal
import os
import signal
import sys
import time

from bench.warden import kernel
from bench.warden.accounting import Account
from bench.warden.folder import Folder
from bench.warden.inside import Pipes, live
from bench.warden.order import Order, Refused
from bench.warden.watching import Watch

_LENGTH = 8
_OURS = 1
"""The first process of the walled side counts in its group."""


def main() -> None:
    """Run one order; write what came of it, whatever came of it."""
    began_ns = time.perf_counter_ns()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked decides, and closes our input
    order = _read_order()
    result: dict[str, object]
    try:
        result = _run(order)
    except (OSError, Refused) as fault:
        result = {"refused": str(fault)}
    result["whole_ns"] = time.perf_counter_ns() - began_ns
    with open(1, "wb") as out:
        marshal.dump(result, out)


def _read_order() -> Order:
    with open(0, "rb", buffering=0, closefd=False) as source:
        size = int.from_bytes(_exactly(source.fileno(), _LENGTH), "little")
        return Order(marshal.loads(_exactly(source.fileno(), size)))  # noqa: S302 - our own caller


def _exactly(descriptor: int, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        part = os.read(descriptor, size - len(received))
        if not part:  # whoever asked is gone
            sys.exit(1)
        received += part
    return bytes(received)


def _run(order: Order) -> dict[str, object]:
    account = Account(memory_bytes=order.memory_bytes, processes=order.processes + _OURS)
    if "memory" in account.held:
        order.memory_limit = None
    folder = Folder(order)
    try:
        if order.is_alone:
            kernel.adopt_orphans()
        else:
            _enter_namespaces(order)
        watch = Watch(order, account, folder)
        outer = _start(order, account, folder.path)
        facts = watch.run(*outer)
        facts["counted"] = {name: account.how(name) for name in account.held}
        return facts
    finally:
        account.close()
        folder.close()


def _enter_namespaces(order: Order) -> None:
    """Give the next child a PID namespace; staying who we are, in a user namespace of our own."""
    if order.user is not None:
        kernel.unshare("pid")
        return
    user, group = os.geteuid(), os.getegid()
    kernel.unshare("user", "pid")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_INNER_ID} {user} 1"),
        ("gid_map", f"{_INNER_ID} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


_INNER_ID = 1000


def _start(order: Order, account: Account, folder: str) -> tuple[int, int, int, int]:
    """Fork the walled side; return its PID and the ends to read: output, errors, report."""
    (out_r, out_w), (err_r, err_w), (report_r, report_w) = os.pipe(), os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        for descriptor in (0, 1, 2, out_r, err_r, report_r):
            os.close(descriptor)
        for number in range(3):  # nothing of ours may get a number that the program inherits
            os.open(os.devnull, os.O_RDWR) if number == 0 else os.dup2(0, number)
        live(order, folder, account.join, Pipes(out=out_w, err=err_w, report=report_w))
    for descriptor in (out_w, err_w, report_w):
        os.close(descriptor)
    return pid, out_r, err_r, report_r


if __name__ == "__main__":
    main()
