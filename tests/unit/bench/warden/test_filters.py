"""The filter of system calls, run by a small machine for its few instructions."""

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.warden.filters import call_filter

ALLOW, KILL, ERRNO = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
MACHINES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
PROGRAM = 4242
CALLS = {
    "x86_64": {"socket": 41, "socketpair": 53, "clone": 56, "fork": 57, "kill": 62, "ptrace": 101,
               "prlimit64": 302, "read": 0, "tgkill": 234, "fcntl": 72, "ioctl": 16, "fchmodat": 268,
               "truncate": 76},
    "aarch64": {"socket": 198, "socketpair": 199, "clone": 220, "kill": 129, "ptrace": 117,
                "prlimit64": 261, "read": 63, "tgkill": 131, "fcntl": 25, "ioctl": 29, "fchmodat": 53,
                "truncate": 45},
}  # fmt: skip


def judged(program: bytes, machine: int, number: int, first: int = 0, second: int = 0) -> int:
    """Run the program on one call; return the kernel's action."""
    data = struct.pack("=IIQQQ", number, machine, 0, first, second)
    accumulator, at = 0, 0
    while True:
        code, yes, no, value = struct.unpack_from("=HBBI", program, at * 8)
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
            continue
        if code == 0x54:
            accumulator &= value
            continue
        holds = {
            0x15: accumulator == value,
            0x25: accumulator > value,
            0x45: bool(accumulator & value),
        }[code]
        at += yes if holds else no


def action(
    machine: str, name: str, first: int = 0, second: int = 0, *, is_alone: bool = False
) -> int:
    program = call_filter(machine, program=PROGRAM, is_alone=is_alone)
    return judged(program, MACHINES[machine], CALLS[machine][name], first, second)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "first", "wanted"),
    [
        ("read", 0, ALLOW),
        ("socketpair", 1, ALLOW),
        ("socket", 1, ERRNO | errno.EPERM),
        ("ptrace", 16, ERRNO | errno.EPERM),
        ("clone", 17, ALLOW),
        ("clone", 0x10000000 | 17, ERRNO | errno.EPERM),
        ("kill", 99, ALLOW),
        ("prlimit64", 0, ALLOW),
        ("prlimit64", PROGRAM, ALLOW),
        ("prlimit64", 1, ERRNO | errno.EPERM),
    ],
)
def test_a_call_is_judged_by_its_number_and_first_argument(machine, name, first, wanted):
    assert action(machine, name, first) == wanted


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "first", "wanted"),
    [
        ("clone", 17, ERRNO | errno.EAGAIN),
        ("clone", 0x3D0F00, ALLOW),
        ("kill", PROGRAM, ALLOW),
        ("kill", 1, ERRNO | errno.EPERM),
        ("kill", 0xFFFF_FFFF, ERRNO | errno.EPERM),
        ("tgkill", PROGRAM, ALLOW),
        ("tgkill", 1, ERRNO | errno.EPERM),
    ],
)
def test_alone_a_program_starts_threads_only_and_signals_itself_only(machine, name, first, wanted):
    assert action(machine, name, first, is_alone=True) == wanted


REFUSED = ERRNO | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "second", "wanted"),
    [
        pytest.param("socketpair", 1, ALLOW, id="a pair of streams"),
        pytest.param("socketpair", 0o2004001, ALLOW, id="a pair of streams with options"),
        pytest.param("socketpair", 2, REFUSED, id="a pair of datagrams may send to any name"),
        pytest.param("socketpair", 0o2004002, REFUSED, id="a pair of datagrams with options"),
        pytest.param("fcntl", 3, ALLOW, id="what a descriptor is open for"),
        pytest.param("fcntl", 8, REFUSED, id="whom a descriptor signals"),
        pytest.param("fcntl", 15, REFUSED, id="whom a descriptor signals, newer"),
        pytest.param("ioctl", 0x5401, ALLOW, id="whether it is a terminal"),
        pytest.param("ioctl", 0x8901, REFUSED, id="whom a socket signals"),
        pytest.param("ioctl", 0x8902, REFUSED, id="which group a socket signals"),
        pytest.param("fchmodat", 0, REFUSED, id="rights of a file"),
        pytest.param("truncate", 0, REFUSED, id="length of a file by its name"),
        pytest.param("read", 2, ALLOW, id="anything else with such an argument"),
    ],
)
def test_alone_a_program_is_kept_from_what_landlock_does_not_know(machine, name, second, wanted):
    assert action(machine, name, 0, second, is_alone=True) == wanted
    assert action(machine, name, 0, second) == ALLOW


def test_a_fork_of_the_old_kind_is_refused_alone():
    assert action("x86_64", "fork", is_alone=True) == ERRNO | errno.EAGAIN
    assert action("x86_64", "fork") == ALLOW


@given(st.integers(min_value=453, max_value=0xFFFF_FFFF), st.booleans())
def test_what_is_newer_than_what_was_looked_at_does_not_exist(number, is_alone):
    for machine, audit in MACHINES.items():
        program = call_filter(machine, program=PROGRAM, is_alone=is_alone)
        assert judged(program, audit, number) == ERRNO | errno.ENOSYS


@given(
    st.integers(min_value=0, max_value=0xFFFF_FFFF).filter(lambda one: one not in MACHINES.values())
)
def test_calls_of_another_machine_end_the_program(audit):
    for machine in MACHINES:
        assert judged(call_filter(machine, program=PROGRAM, is_alone=False), audit, 0) == KILL
