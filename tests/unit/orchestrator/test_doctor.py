"""What an examination makes of machines that are not like this one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.doctor import examine
from orchestrator.doctor_limits import SandboxFacts, Surroundings
from orchestrator.doctor_ports import Address, FolderFacts, SystemFacts
from orchestrator.errors import ExecFailed, NotStarted
from orchestrator.events import Exit
from orchestrator.findings import Finding, failed
from orchestrator.watch_ports import Space
from tests.fakes_orchestrator import (
    US,
    FakeFacts,
    FakeHeld,
    FakeHolder,
    FakeMachine,
    FakeSpawner,
    FakeState,
)

FINE = SystemFacts(
    name="Linux 6.18",
    holds_by="pidfd",
    clock_ns=70.0,
    load=0.5,
    cores=2,
    memory_kills="/sys/fs/cgroup/memory.events",
    open_files=20_000,
)


class FakeExaminer:
    """A machine that tests describe."""

    def __init__(self, **changes) -> None:
        self.facts = replace(FINE, **changes)
        self.state = FolderFacts(filesystem="ext4", is_local=True)
        self.refusal: OSError | None = None
        self.versions = {"node": "v20.1.0", "git": "git version 2.39"}

    def system(self) -> SystemFacts:
        return self.facts

    def folder(self, path: Path) -> FolderFacts:
        return self.state

    @contextmanager
    def connection(self) -> Iterator[tuple[Address, Address]]:
        if self.refusal is not None:
            raise self.refusal
        yield ("127.0.0.1", 40_000), ("127.0.0.1", 40_001)

    def version(self, program: Path) -> str | None:
        return self.versions.get(program.name)


class TrialHolder(FakeHolder):
    """Tells how the throwaway process ended."""

    end: Exit | None = None

    def hold(self, pid):  # type: ignore[explicit-override]
        if self.end is None:
            return None
        self.table.processes[pid] = replace(self.table.processes[pid], state="zombie")
        return FakeHeld(self.table, self.clock, pid, end=self.end)


def a_machine(end: Exit | None = Exit(code=7, source="pidfd")) -> FakeMachine:  # noqa: B008  # frozen
    made = FakeMachine()
    holder = TrialHolder(made.table, made.clock)
    holder.end, made.holder = end, holder
    made.sockets.owners = frozenset({US})
    return made


FULL = SandboxFacts(level="full", seen="namespaces; memory by cgroup v2; processes by cgroup v2")


def found(
    machine: FakeMachine,
    examiner: FakeExaminer | None = None,
    sandbox: SandboxFacts = FULL,
    **keys,
) -> dict[str, Finding]:
    near = Surroundings(
        environ={"PATH": "/usr/bin"},
        folder=Path("/nowhere"),
        results=Path("/nowhere/out"),
        keys=keys or {"LOCAL_DEMO_API_KEY": "environment"},
        sandbox=sandbox,
    )
    return {one.id: one for one in examine(machine.ports, examiner or FakeExaminer(), near)}


def verdicts(machine, examiner=None, **keys):
    return {name: one.verdict for name, one in found(machine, examiner, **keys).items()}


def test_a_machine_that_can_prove_everything_passes():
    seen = verdicts(a_machine())
    assert seen.pop("sharedMemory") == "unknown"  # as the fake has it
    assert set(seen.values()) == {"yes"}
    assert failed(found(a_machine()).values()) == ()


@pytest.mark.parametrize(
    ("changes", "point", "verdict"),
    [
        ({"holds_by": "nothing", "why_not": "Function not implemented"}, "identity", "no"),
        ({"holds_by": "kqueue"}, "identity", "yes"),
        ({"clock_ns": 1e6}, "clock", "no"),
        ({"load": 5.0}, "load", "no"),
        ({"load": None}, "load", "unknown"),
        ({"memory_kills": None}, "memoryKills", "unknown"),
        ({"memory_kills": "/proc/vmstat"}, "memoryKills", "no"),
        ({"memory_kills": "/sys/fs/cgroup/memory/memory.oom_control"}, "memoryKills", "yes"),
        ({"open_files": 256}, "descriptors", "no"),
        ({"open_files": None}, "descriptors", "yes"),
    ],
)
def test_what_the_system_lacks_is_said_and_fails_nothing(changes, point, verdict):
    seen = found(a_machine(), FakeExaminer(**changes))
    assert seen[point].verdict == verdict
    assert failed(seen.values()) == ()


@pytest.mark.parametrize(
    ("end", "verdict"),
    [
        pytest.param(Exit(), "no", id="nobody tells"),
        pytest.param(None, "unknown", id="it was gone at once"),
    ],
)
def test_an_exit_status_that_is_not_told_is_said(end, verdict):
    assert verdicts(a_machine(end))["exitStatus"] == verdict


def test_a_trial_that_can_not_be_started_leaves_it_open():
    machine = a_machine()
    machine.spawner.refusal = ExecFailed("execve", "/bin/sh", 2, "No such file")
    seen = found(machine)["exitStatus"]
    assert seen.verdict == "unknown"
    assert "no process could be started" in seen.seen


def test_an_adopter_that_ends_with_us_fails_the_examination():
    machine = a_machine()
    machine.spawner.adopted_by = (US, "bash")
    seen = found(machine)
    assert seen["adopter"].verdict == "no"
    assert [one.id for one in failed(seen.values())] == ["adopter"]


class MuteSpawner(FakeSpawner):
    """Its helper says nothing."""

    def adopter(self):  # type: ignore[explicit-override]
        raise NotStarted("the helper said nothing")


def test_an_adopter_that_is_not_told_is_unknown():
    machine = a_machine()
    machine.spawner = MuteSpawner(machine.table)
    assert verdicts(machine)["adopter"] == "unknown"


def test_a_connection_whose_owner_is_not_shown_fails_the_examination():
    machine = a_machine()
    machine.sockets.owners = frozenset()
    assert [one.id for one in failed(found(machine).values())] == ["ownership"]
    examiner = FakeExaminer()
    examiner.refusal = OSError(99, "Cannot assign requested address")
    assert verdicts(a_machine(), examiner)["ownership"] == "unknown"


@pytest.mark.parametrize(
    ("facts", "point"),
    [
        pytest.param(FolderFacts(write_fault="Permission denied in `/x`"), "stateFolder", id="ro"),
        pytest.param(FolderFacts(lock_fault="No locks available"), "locks", id="no locks"),
        pytest.param(FolderFacts(filesystem="nfs4", is_local=False), "locks", id="network"),
    ],
)
def test_a_state_folder_that_can_not_keep_locks_fails_the_examination(facts, point):
    examiner = FakeExaminer()
    examiner.state = facts
    assert [one.id for one in failed(found(a_machine(), examiner).values())] == [point]


class NamedState(FakeState):
    def __init__(self, root: str) -> None:
        super().__init__()
        self.root = Path(root)


def test_a_word_that_people_kill_by_in_the_path_is_said():
    machine = a_machine()
    machine.state = NamedState(f"{Path.home()}/gateway-state/gwb")
    seen = found(machine)["exposure"]
    assert seen.verdict == "no"
    assert "`pkill -f 'gateway'`" in seen.seen
    assert "`~/gateway-state/gwb`" in seen.seen


def test_few_ports_below_the_outgoing_ones_are_said():
    machine = a_machine()
    machine.sockets.floor = 15_000
    seen = found(machine)["ports"]
    assert (seen.verdict, seen.seen[:2]) == ("no", "0 ")


class BrokenNode(FakeFacts):
    """Facts of a machine whose state folder can't be written to."""

    def runs_main(self, node):  # type: ignore[explicit-override]
        raise PermissionError(13, "Permission denied")


def test_programs_that_are_missing_or_odd_are_said():
    machine = a_machine()
    machine.facts.missing = {"node", "git"}
    assert (verdicts(machine)["node"], verdicts(machine)["git"]) == ("no", "no")
    machine = a_machine()
    machine.facts.node_runs_main = False
    assert "not the main module" in found(machine)["node"].seen
    machine = a_machine()
    machine.facts = BrokenNode()
    assert verdicts(machine)["node"] == "unknown"
    examiner = FakeExaminer()
    examiner.versions = {}
    assert verdicts(a_machine(), examiner)["git"] == "no"


def test_little_room_is_said_and_unknown_room_is_not_none():
    machine = a_machine()
    machine.premises.room = {Path("/"): Space(device=1, free_bytes=10**8, free_files=None)}
    assert verdicts(machine)["room"] == "no"
    machine.premises.room = {Path("/"): None}
    assert verdicts(machine)["room"] == "unknown"


def test_keys_are_told_by_name_and_where_they_are_set():
    seen = found(a_machine(), None, A_KEY=".env", OTHER_KEY=None)["keys"]
    assert (seen.verdict, seen.seen) == ("yes", "set: A_KEY (.env)")
    none = found(a_machine(), None, A_KEY=None, OTHER_KEY=None)["keys"]
    assert (none.verdict, none.remedy) == ("no", "export A_KEY or OTHER_KEY")


@pytest.mark.parametrize(
    ("level", "consequence"),
    [("reduced", "only when it is allowed by name"), ("none", "can't run the code of models")],
)
def test_a_sandbox_below_full_is_told_with_what_is_missing(level, consequence):
    facts = SandboxFacts(level=level, seen="memory: all processes together have no limit")
    seen = found(a_machine(), sandbox=facts)["sandbox"]
    assert (seen.verdict, seen.is_essential) == ("no", False)
    assert seen.seen == f"{level}: memory: all processes together have no limit"
    assert consequence in seen.consequence
    assert "docs/sandbox.md" in seen.remedy
