"""Which gateway a person means."""

from pathlib import Path

import pytest

from orchestrator.choosing import choose
from orchestrator.faults import NoSuchGateway, SeveralCandidates
from orchestrator.identity import Identity
from orchestrator.ports import Build
from orchestrator.records import Adopter, GatewayRecord


def record(name, pid, worktree="/here", **labels):
    return GatewayRecord(
        id="0" * 8,
        worktree=worktree,
        name=name,
        run_id="r",
        identity=Identity(boot_id="b", pid_namespace=None, pid=pid, start_ticks=1),
        host="127.0.0.1",
        port=1000 + pid,
        health_path="/",
        log="/log",
        entry=None,
        entry_mode="shim",
        build=Build(),
        adopter=Adopter(pid=1, name="init"),
        fingerprint={"command": "h"},
        started_at="2025-01-01T00:00:00.000Z",
        started_ns=0,
        labels=labels,
    )


A, B = record("default", 11), record("second", 12)
FAR = record("far", 13, "/there")
TWIN = record("default", 14, "/there")
RUN = record("r", 16, "/there")
SIMULATOR = record("default-upstream", 15, upstreamOf="default")


@pytest.mark.parametrize(
    ("records", "wanted", "meant"),
    [
        pytest.param([], None, None, id="nothing on record"),
        pytest.param([A, FAR], None, A, id="the only one here"),
        pytest.param([FAR], None, None, id="another worktree's is not meant without a name"),
        pytest.param([A, SIMULATOR], None, A, id="a simulator is not meant"),
        pytest.param([A, B, TWIN], "default", A, id="this worktree's before another's"),
        pytest.param([A, FAR], "far", None, id="another worktree's is not meant by its name"),
        pytest.param([A, RUN], "r", RUN, id="another worktree's run by its own name"),
        pytest.param([SIMULATOR], None, SIMULATOR, id="a simulator whose gateway is gone"),
        pytest.param([SIMULATOR, TWIN], None, SIMULATOR, id="another's gateway is not its own"),
        pytest.param([A], "other", None, id="no such name"),
        pytest.param([A, B, FAR], "13", FAR, id="by PID"),
    ],
)
def test_who_is_meant(records, wanted, meant):
    assert choose(records, wanted=wanted, worktree=Path("/here"), verb="stop") is meant


def test_several_without_a_name_are_listed():
    with pytest.raises(SeveralCandidates) as fault:
        choose([A, B], wanted=None, worktree=Path("/here"), verb="stop")
    assert fault.value.exit_code == 2
    assert fault.value.message.splitlines() == [
        "2 gateways could be meant:",
        "  default  PID 11  port 1011  since 2025-01-01T00:00:00.000Z  `/here`",
        "  second  PID 12  port 1012  since 2025-01-01T00:00:00.000Z  `/here`",
    ]
    assert fault.value.hint == "name one: `gateway-bench stop NAME` or `gateway-bench stop PID`"


def test_an_unknown_pid_is_an_error_that_lists_the_known():
    with pytest.raises(NoSuchGateway) as fault:
        choose([A], wanted="99", worktree=Path("/here"), verb="stop")
    assert fault.value.message == "no gateway `99` here"
    assert fault.value.hint == "on record: default (PID 11)"
