"""What is written down is read back, or not believed at all."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.events import Event, Exit
from orchestrator.ports import Build
from orchestrator.records import (
    Adopter,
    Ending,
    GatewayRecord,
    Instance,
    Unreadable,
    decode,
    decode_ending,
    encode,
    is_of_earlier_boot,
)
from tests.fakes_orchestrator import MARK, identity

RECORD = GatewayRecord(
    id="0a1b2c3d",
    worktree="/home/me/shop",
    name="default",
    run_id=MARK,
    identity=identity(),
    members=(identity(), identity(4243)),
    host="127.0.0.1",
    port=23456,
    health_path="/health",
    log="/state/0a1b2c3d.log",
    entry="/home/me/shop/dist/serve.js",
    entry_mode="shim",
    files=("/state/0a1b2c3d.cjs",),
    build=Build(commit="c" * 40, is_dirty=True),
    adopter=Adopter(pid=1, name="init"),
    fingerprint={"command": "hash"},
    started_at="2026-01-02T00:00:00.000+00:00",
    started_ns=5,
    labels={"preset": "demo"},
)
ENDING = Ending(
    identity=identity(),
    run_id=MARK,
    name="default",
    worktree="/home/me/shop",
    port=23456,
    log="/state/0a1b2c3d.log",
    ended_at="2026-01-02T00:00:00.000+00:00",
    was_asked=True,
    exit=Exit(signal=15, source="pidfd"),
    events=(Event(name="gone", at_ns=7, detail={"pid": 1}),),
)


def test_a_record_reads_back_as_it_was_written():
    assert decode(encode(RECORD)) == RECORD
    assert decode_ending(encode(ENDING)) == ENDING


def test_a_record_of_an_older_version_is_of_no_known_machine():
    older = {**msgspec.json.decode(encode(RECORD))}
    del older["machine"]
    assert decode(msgspec.json.encode(older)) == RECORD


BOOTS = [("boot-a", "ns-1"), ("boot-0", "ns-1"), ("boot-0", "ns-2"), ("boot-a", "ns-2")]


@pytest.mark.parametrize(("boot", "namespace"), BOOTS)
@pytest.mark.parametrize("recorded", [None, "m", "n"])
@pytest.mark.parametrize("here", [None, "m"])
def test_only_another_boot_of_this_very_machine_is_certain(boot, namespace, recorded, here):
    then = identity(boot=boot, namespace=namespace)
    record = msgspec.structs.replace(RECORD, identity=then, machine=recorded)
    is_certain = (boot, namespace, recorded, here) == ("boot-0", "ns-1", "m", "m")
    assert is_of_earlier_boot(record, identity(pid=7), here) is is_certain


def test_names_in_files_are_camel_case():
    assert b'"startTicks": 1000' in encode(RECORD)
    assert b'"schemaVersion": 1' in encode(RECORD)


@given(st.integers(0, len(encode(RECORD)) - 3))
def test_a_truncated_record_is_unreadable_at_every_length(length):
    assert isinstance(decode(encode(RECORD)[:length]), Unreadable)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"schemaVersion": 2}, "has format 2, this program knows format 1"),
        ({"identity": None}, "does not hold what a record holds"),
        ({"port": "x"}, "does not hold what a record holds"),
    ],
)
def test_an_odd_record_is_unreadable(changes, why):
    data = {**msgspec.json.decode(encode(RECORD)), **changes}
    found = decode(msgspec.json.encode(data))
    assert isinstance(found, Unreadable)
    assert why in found.why


@pytest.mark.parametrize("pid", [-1, 0, 2**31, 2**70])
def test_a_record_without_a_process_is_unreadable(pid):
    whole = msgspec.json.decode(encode(RECORD))
    whole["identity"]["pid"] = pid
    assert isinstance(decode(json.dumps(whole).encode()), Unreadable)


@pytest.mark.parametrize("data", [b"", b"{}", b'{"schemaVersion": 2}', b'{"schemaVersion": 1}'])
def test_an_odd_ending_is_none(data):
    assert decode_ending(data) is None


def test_an_instance_is_a_worktree_and_a_name():
    ids = {
        Instance(worktree=Path(tree), name=name).id
        for tree in ("/a", "/a/b")
        for name in ("x", "y")
    }
    assert len(ids) == 4
    assert all(len(one) == 8 and int(one, 16) >= 0 for one in ids)


def test_worktree_and_name_do_not_run_together():
    assert (
        Instance(worktree=Path("/a"), name="bc").id != Instance(worktree=Path("/ab"), name="c").id
    )
