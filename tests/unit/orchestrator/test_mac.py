"""The macOS adapters on a fake libproc, a fake sysctl and what psutil answers there."""

import ctypes
import errno
import os
import struct
from typing import Any, NamedTuple

import psutil
import pytest

from orchestrator.ports import Absence, ProcessInfo
from orchestrator.system.mac_processes import MacTable, boot_session, libproc_reader
from orchestrator.system.mac_sockets import connections_of
from orchestrator.system.machine_id import mac_machine_id

# Above any pid_max: nobody has it here.
NOBODY = 2**22 + 4242
START_S, START_US = 1_700_000_000, 123_456


def bsdinfo(pid, *, status=2, user=501, parent=1):
    """The bytes of `struct proc_bsdinfo`."""
    numbers = [0, status, 0, pid, parent, user, 20, user, 20, user, 20, 0]
    rest = [10, pid, 0, 0xFFFF_FFFF, 0, 0, START_S, START_US]
    return struct.pack("=12I16s32s5Ii2Q", *numbers, b"node", b"", *rest)


class FakeLibproc:
    """`proc_pidinfo` over prepared processes; sets `errno` as the real one does."""

    def __init__(self, *pids, refused=()):
        self.known = {pid: bsdinfo(pid) for pid in pids}
        self.refused = set(refused)
        self.error = 0

    def proc_pidinfo(self, pid, flavor, argument, buffer, size):
        assert (flavor, argument.value, size) == (3, 1, 136)
        if pid in self.refused or pid not in self.known:
            self.error = errno.EPERM if pid in self.refused else errno.ESRCH
            return 0
        ctypes.memmove(buffer, self.known[pid], size)
        return size

    def reader(self):
        return libproc_reader(self, lambda: self.error)


class Answers:
    """What psutil says of one process; an exception is what it raises."""

    def __init__(self, **told):
        self.told = told

    def __call__(self, pid):
        return self

    def __getattr__(self, name):
        def answer():
            told = self.told[name]
            if isinstance(told, BaseException):
                raise told
            return told

        return answer


DENIED = psutil.AccessDenied(NOBODY)
TOLD = Answers(
    cmdline=["node", "/s/0123abcd.cjs"],
    cwd="/work",
    environ={"GWB_RUN": "a-mark", "GWB_RECORD": "/s/r.json"},
)


def table(libproc, ask=TOLD):
    return MacTable(libproc.reader(), "a-boot", ask)


def test_a_process_is_known_by_boot_pid_and_the_kernels_start_time():
    seen = table(FakeLibproc(NOBODY)).look(NOBODY)
    assert isinstance(seen, ProcessInfo)
    assert seen.identity.start_ticks == START_S * 1_000_000 + START_US
    assert (seen.identity.boot_id, seen.identity.pid_namespace) == ("a-boot", None)
    assert (seen.marker, seen.record_path, seen.folder) == ("a-mark", "/s/r.json", "/work")
    assert seen.has_terminal is False


@pytest.mark.parametrize(
    ("refused", "kept"),
    [
        pytest.param("environ", ("command", "folder"), id="environment"),
        pytest.param("cwd", ("command", "marker"), id="folder"),
        pytest.param("cmdline", ("folder", "marker"), id="command line"),
    ],
)
def test_what_is_refused_does_not_hide_the_rest(refused, kept):
    ask = Answers(**{**TOLD.told, refused: DENIED})
    seen = table(FakeLibproc(NOBODY), ask).look(NOBODY)
    full = table(FakeLibproc(NOBODY)).look(NOBODY)
    assert [getattr(seen, name) for name in kept] == [getattr(full, name) for name in kept]


def test_an_empty_environment_is_an_unknown_marker():
    ask = Answers(**{**TOLD.told, "environ": {}})
    assert table(FakeLibproc(NOBODY), ask).look(NOBODY).marker is None


def test_no_such_process_is_gone():
    assert table(FakeLibproc()).look(NOBODY) is Absence.GONE


@pytest.mark.parametrize(
    ("pid", "expected"),
    [
        pytest.param(os.getpid(), Absence.HIDDEN, id="it is there"),
        pytest.param(NOBODY, Absence.GONE, id="nobody has that PID"),
    ],
)
def test_a_refusal_is_hidden_unless_nobody_has_the_pid(pid, expected):
    assert table(FakeLibproc(refused=[pid])).look(pid) is expected


def test_everyone_leaves_out_who_can_not_be_seen():
    us = os.getpid()
    assert [one.pid for one in table(FakeLibproc(us)).everyone()] == [us]


class Memory(NamedTuple):
    rss: int


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(Memory(4096), 4096, id="told"),
        pytest.param(DENIED, None, id="refused is not measured"),
    ],
)
def test_memory_is_told_or_unknown(answer, expected):
    mac = table(FakeLibproc(NOBODY), Answers(memory_info=answer))
    assert mac.detail(NOBODY).resident_bytes == expected


class FakeSysctl:
    """`sysctlbyname` over prepared values."""

    def __init__(self, **values):
        self.values = values

    def sysctlbyname(self, name, buffer, size, *_):
        value = self.values.get(name.decode().removeprefix("kern."))
        if value is None:
            return -1
        ctypes.memmove(buffer, value, len(value))
        ctypes.cast(size, ctypes.POINTER(ctypes.c_size_t))[0] = len(value)
        return 0


UUID = b"8E2D1F6C-0000-4000-8000-0123456789AB\0"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({"bootsessionuuid": UUID}, UUID[:-1].decode(), id="session"),
        pytest.param(
            {"boottime": struct.pack("=qi4x", START_S, 1)}, f"boottime:{START_S}", id="boot time"
        ),
        pytest.param(
            {"bootsessionuuid": b"", "boottime": struct.pack("=qi4x", 7, 1)},
            "boottime:7",
            id="an empty session",
        ),
    ],
)
def test_a_boot_has_a_name(values, expected):
    assert boot_session(FakeSysctl(**values)) == expected


def test_a_boot_without_name_is_an_error():
    with pytest.raises(OSError, match=r"kern\.boottime"):
        boot_session(FakeSysctl())


class Socket(NamedTuple):
    laddr: tuple[Any, ...]
    raddr: tuple[Any, ...]
    status: str


OPEN = Socket(("127.0.0.1", 4001), ("127.0.0.1", 50_000), psutil.CONN_ESTABLISHED)


class Refusals:
    """Refuses some times, then answers."""

    def __init__(self, *refusals):
        self.refusals = list(refusals)
        self.asked = 0

    def __call__(self, pid):
        self.asked += 1
        if self.refusals:
            raise self.refusals.pop(0)
        return [OPEN]


@pytest.mark.parametrize(
    ("refusals", "found", "asked"),
    [
        pytest.param((), 1, 1, id="none"),
        pytest.param((DENIED,), 1, 2, id="a race"),
        pytest.param((OSError(0, "nothing"),), 1, 2, id="an error that is none"),
        pytest.param((DENIED, DENIED), 0, 2, id="a process of another user"),
        pytest.param((psutil.NoSuchProcess(NOBODY),), 0, 1, id="ended meanwhile"),
    ],
)
def test_a_refused_look_at_sockets_is_tried_once_more(refusals, found, asked):
    ask = Refusals(*refusals)
    assert len(connections_of(NOBODY, ask)) == found
    assert ask.asked == asked


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param(("127.0.0.1", 1), ("127.0.0.1", 1), id="IPv4"),
        pytest.param(("::ffff:127.0.0.1", 1), ("127.0.0.1", 1), id="mapped"),
        pytest.param(("::127.0.0.1", 1), ("127.0.0.1", 1), id="as XNU keeps it"),
        pytest.param(("::1", 1), ("::1", 1), id="IPv6 loopback"),
        pytest.param(("::", 1), ("::", 1), id="any IPv6"),
        pytest.param(("fe80::1%lo0", 1), ("fe80::1%lo0", 1), id="with a zone"),
        pytest.param(("*", 1), ("0.0.0.0", 1), id="any"),  # noqa: S104  # compared only
        pytest.param((), ("", 0), id="none"),
    ],
)
def test_an_address_is_given_as_the_client_knows_it(address, expected):
    ((local, _, _),) = connections_of(NOBODY, lambda _: [Socket(address, (), "LISTEN")])
    assert local == expected


class FakeHardware:
    """`gethostuuid` of one Mac; ``None`` = it refuses."""

    def __init__(self, uuid):
        self.uuid = uuid

    def gethostuuid(self, buffer, wait):
        if self.uuid is None:
            return -1
        ctypes.memmove(buffer, self.uuid, 16)
        return 0


def test_a_mac_is_known_by_its_hardware_whatever_it_boots():
    one, other = (FakeHardware(bytes([first] * 16)) for first in (1, 2))
    mine = mac_machine_id(one, "boot-1")
    assert mine is not None
    assert (len(mine), int(mine, 16) > 0) == (16, True)
    assert mac_machine_id(one, "boot-2") == mine != mac_machine_id(other, "boot-1")


@pytest.mark.parametrize(
    ("uuid", "boot_id"),
    [
        pytest.param(None, "boot-1", id="refused"),
        pytest.param(bytes(16), "boot-1", id="a virtual machine without one"),
        pytest.param(b"x" * 16, "boottime:17", id="a boot id that moves with the clock"),
    ],
)
def test_a_mac_that_can_t_be_told_for_certain_is_unknown(uuid, boot_id):
    assert mac_machine_id(FakeHardware(uuid), boot_id) is None
