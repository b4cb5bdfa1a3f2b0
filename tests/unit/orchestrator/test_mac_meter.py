"""What macOS shows of a process's use: libproc played, psutil on this very process."""

import os
import socket

import psutil
import pytest

from orchestrator.ports import Absence
from orchestrator.system.mac_meter import MacMeter
from orchestrator.system.mac_processes import MacTable
from tests.unit.orchestrator.test_mac import START_S, START_US, bsdinfo

ZOMBIE, RUNNING = 5, 2


def meter(**states):
    """A meter over a libproc that knows this process, and others that psutil can't see."""
    known = {
        int(pid.strip("_")): bsdinfo(int(pid.strip("_")), status=s) for pid, s in states.items()
    }
    known.setdefault(os.getpid(), bsdinfo(os.getpid(), parent=os.getppid()))
    return MacMeter(MacTable(lambda pid: known.get(pid, Absence.GONE), "boot"))


def test_a_process_shows_time_memory_threads_and_descriptors():
    used = meter().usage(os.getpid())
    assert used is not None
    assert used.start_ticks == START_S * 1_000_000 + START_US
    assert used.parent == os.getppid()
    assert used.cpu_ms is not None
    assert used.cpu_ms > 0
    assert used.resident_bytes is not None
    assert used.resident_bytes > 1_000_000
    assert used.threads == psutil.Process().num_threads()
    assert used.descriptors is not None


def test_there_is_no_pss_and_no_time_of_waited_for_children():
    assert meter().proportional_bytes(os.getpid()) is None
    used = meter().usage(os.getpid())
    assert used is not None
    assert used.waited_cpu_ms is None


@pytest.mark.parametrize("states", [{}, {"_99999999": ZOMBIE}])
def test_what_is_gone_or_a_zombie_uses_nothing(states):
    assert meter(**states).usage(99_999_999) is None


def test_what_psutil_may_not_see_is_there_with_nothing_known():
    used = meter(_99999999=RUNNING).usage(99_999_999)
    assert used is not None
    assert (used.cpu_ms, used.resident_bytes, used.threads) == (None, None, None)


def test_kin_is_parent_and_session():
    kin = meter().kin(os.getpid())
    assert kin is not None
    assert (kin.parent, kin.session) == (os.getppid(), os.getsid(0))
    assert meter().kin(99_999_999) is None


def test_connections_are_counted_at_both_ends_and_unknown_when_refused():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), server.accept()[0]:
            counted = meter().connections(port, [os.getpid()])
    assert counted is not None
    assert counted.incoming == 1
    assert counted.outgoing >= 1
    assert meter().connections(port, [99_999_999]) is None


def test_every_process_of_the_machine_is_listed():
    assert os.getpid() in meter().pids()
