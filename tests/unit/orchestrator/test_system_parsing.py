"""Kernel tables are read as the kernel writes them."""

import struct

import pytest

from orchestrator.system.mac_processes import parse_bsdinfo
from orchestrator.system.procfs import parse_stat
from orchestrator.system.sockets import parse_rows

TAIL = "0 -1 4194560 1 2 3 4 5 6 7 8 20 0 {threads} 0 {ticks} " + "0 " * 29 + "{status}"


def stat(name="node", letter="S", threads=7, ticks=123456, status=0):
    head = f"4242 ({name}) {letter} 1 4242 4242 "
    return parse_stat(head + TAIL.format(threads=threads, ticks=ticks, status=status))


@pytest.mark.parametrize("name", ["node", "a b", "x) S 9 (y", "((", "MainThread"])
def test_a_name_may_hold_blanks_and_brackets(name):
    found = stat(name=name)
    assert (found.name, found.letter, found.parent) == (name, "S", 1)
    assert (found.group, found.session, found.terminal) == (4242, 4242, 0)
    assert (found.start_ticks, found.threads) == (123456, 7)


@pytest.mark.parametrize(
    ("letter", "threads", "state"),
    [
        ("S", 1, "alive"),
        ("D", 1, "alive"),
        ("T", 1, "stopped"),
        ("t", 1, "stopped"),
        ("Z", 1, "zombie"),
        ("Z", 3, "alive"),
        ("X", 0, "zombie"),
    ],
)
def test_a_state_letter_has_its_meaning(letter, threads, state):
    assert stat(letter=letter, threads=threads).state == state


def test_the_wait_status_is_the_last_field():
    assert stat(letter="Z", status=256).wait_status == 256


def test_a_stat_line_of_an_old_kernel_has_no_wait_status():
    assert parse_stat("1 (a) S 0 1 1 " + "0 " * 30).wait_status == 0


HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode\n"


def test_addresses_are_words_in_the_machines_order():
    text = HEAD + (
        "   0: 0100007F:0FA1 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 111 1\n"
        "   1: 0100007F:0FA1 0100007F:C350 01 00000000:00000000 00:00000000 00000000 0 0 222 1\n"
    )
    listening, connected = parse_rows(text)
    assert (listening.local, listening.state, listening.inode) == (("127.0.0.1", 4001), "0A", 111)
    assert connected.remote == ("127.0.0.1", 50000)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("00000000000000000000000001000000", "::1"),
        ("0000000000000000FFFF00000100007F", "127.0.0.1"),
        ("00000000000000000000000000000000", "::"),
    ],
)
def test_ipv4_in_a_dual_stack_table_is_given_as_ipv4(host, expected):
    text = HEAD + f"   0: {host}:0FA1 {host}:0000 0A 0:0 00:0 0 0 0 7 1\n"
    (row,) = parse_rows(text)
    assert row.local == (expected, 4001)


def bsdinfo(status=2, name=b"", short=b"node", terminal=0xFFFFFFFF):
    numbers = [0, status, 0, 4242, 1, 501, 20, 501, 20, 501, 20, 0]
    rest = [10, 4242, 0, terminal, 0, 0, 1_700_000_000, 123_456]
    return struct.pack("=12I16s32s5Ii2Q", *numbers, short, name, *rest)


@pytest.mark.parametrize(
    ("status", "state"), [(2, "alive"), (3, "alive"), (4, "stopped"), (5, "zombie")]
)
def test_a_mac_status_has_its_meaning(status, state):
    assert parse_bsdinfo(bsdinfo(status=status)).state == state


def test_the_mac_start_is_in_microseconds():
    found = parse_bsdinfo(bsdinfo(name=b"a longer name"))
    assert found.start_us == 1_700_000_000_123_456
    assert (found.parent, found.group, found.user) == (1, 4242, 501)
    assert found.name == "a longer name"
    assert parse_bsdinfo(bsdinfo()).name == "node"
