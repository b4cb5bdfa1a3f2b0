"""Counting connections to a port, on real sockets; the macOS way of it by psutil, which has Linux too."""

import os
import socket

import pytest

from orchestrator.cli.forgotten import mind
from orchestrator.system.mac_traffic import MacTraffic
from orchestrator.system.traffic import LinuxTraffic

pytestmark = pytest.mark.integration


def test_open_and_closed_connections_are_seen_and_a_listener_is_none():
    meter = LinuxTraffic()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        before = meter.traffic(port, ())
        assert before is not None
        assert before.established == 0
        with socket.create_connection(("127.0.0.1", port)), server.accept()[0]:
            during = meter.traffic(port, ())
        after = meter.traffic(port, ())
    assert during is not None
    assert during.established == 1
    assert after is not None
    assert after.established == 0
    # Closed, and for a minute still there.
    assert during.seen & after.seen


def test_a_process_is_asked_for_its_own_connections():
    meter = MacTraffic()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), server.accept()[0]:
            seen = meter.traffic(port, [os.getpid()])
    assert seen is not None
    assert seen.established == 1
    assert meter.traffic(port, [2**22 + 1]) is None


def test_there_is_nothing_to_mind_where_nothing_is_on_record(tmp_path):
    mind(str(tmp_path), "00000000")
    assert list(tmp_path.iterdir()) == []
