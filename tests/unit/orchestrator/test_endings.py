"""How the last gateway of a name ended, from what was kept."""

from pathlib import Path

import msgspec

from orchestrator import records
from orchestrator.endings import ending_facts, ending_line, last_ending
from orchestrator.events import Exit
from orchestrator.records import Ending
from tests.fakes_orchestrator import FakeMachine, identity

TREE = Path("/work/tree")


def ending(name="default", at="2026-01-02T10:00:00.000+00:00", **changes) -> Ending:
    usual = Ending(
        identity=identity(),
        run_id="r",
        name=name,
        worktree=str(TREE),
        port=20_001,
        log=f"/state/{name}.log",
        ended_at=at,
        was_asked=True,
        exit=Exit(code=0, source="pidfd"),
    )
    return msgspec.structs.replace(usual, **changes)


def machine(*kept: Ending) -> FakeMachine:
    made = FakeMachine()
    for number, one in enumerate(kept):
        made.state.write(f"{number}.end", records.encode(one))
    return made


def test_the_last_one_of_a_worktree_is_found_and_private_simulators_are_not():
    made = machine(
        ending("a", "2026-01-02T10:00:00.000+00:00"),
        ending("b", "2026-01-02T11:00:00.000+00:00"),
        ending("b-upstream", "2026-01-02T12:00:00.000+00:00"),
        ending("c", "2026-01-02T13:00:00.000+00:00", worktree="/elsewhere"),
    )
    made.state.write("9.end", b"{")
    found = last_ending(made.ports, TREE, None)
    assert found is not None
    assert found.name == "b"
    named = last_ending(made.ports, TREE, "a")
    assert named is not None
    assert named.name == "a"
    assert last_ending(made.ports, TREE, "c") is None


def test_why_nobody_typed_a_stop_is_said():
    told = ending(because="nobody had been connected for 30m")
    assert ending_line(told) == (
        "`default` (PID 4242) was stopped at 2026-01-02T10:00:00.000+00:00, because nobody had "
        "been connected for 30m; it exited with status 0"
    )
    assert ending_facts(told)["because"] == "nobody had been connected for 30m"


def test_one_that_was_found_dead_is_not_said_to_have_been_stopped():
    told = ending(was_asked=False, exit=Exit(signal=9, source="pidfd"))
    assert ending_line(told) == (
        "`default` (PID 4242) was gone at 2026-01-02T10:00:00.000+00:00 when it was looked for; "
        "it was ended by SIGKILL"
    )


def test_a_pid_means_whoever_had_it_in_any_worktree():
    made = machine(
        ending("a", identity=identity(77)),
        ending("b", worktree="/elsewhere", identity=identity(78)),
    )
    found = last_ending(made.ports, TREE, "78")
    assert found is not None
    assert found.name == "b"
    assert last_ending(made.ports, TREE, "79") is None
