"""`Sandbox` as its users have it: side by side, given up, and with its keeper gone."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from bench.sandbox import Limits, Program, Protections, Sandbox, probe
from bench.sandbox.interpreters import interpreter
from bench.sandbox.running import run_now

pytestmark = pytest.mark.integration
SAFETY_STOP_S = 60.0


@pytest.fixture(scope="module")
def found() -> Protections:
    found = probe()
    if found.level == "none":
        pytest.skip(f"no sandbox on this machine: {found.why}")
    return found


@pytest.fixture
def sandbox(found: Protections) -> Sandbox:
    return Sandbox(found)


def program(code: str, **fields) -> Program:
    return Program(language="python", argv=("main.py",), files={"main.py": code.encode()}, **fields)


def wardens() -> list[psutil.Process]:
    """Return the keepers that we started and that still live."""
    mine = psutil.Process().children()
    return [one for one in mine if any("bench.warden" in word for word in one.cmdline())]


async def the_warden(*, but: frozenset[int] = frozenset()) -> psutil.Process:
    """Wait until the program of a keeper runs: it has a child that has a child."""
    async with asyncio.timeout(SAFETY_STOP_S):
        while True:
            for one in wardens():
                if one.pid not in but and len(one.children(recursive=True)) > 1:
                    return one
            await asyncio.sleep(0.01)


def test_the_probe_names_what_holds_and_what_does_not(found: Protections) -> None:
    assert {item.id for item in found.items} == {
        "network", "reading", "writing", "processes", "syscalls", "memory", "count", "kill",
    }  # fmt: skip
    assert all(item.how for item in found.items)
    assert (found.level == "full") == (found.why is None)


def test_programs_run_side_by_side_and_do_not_see_each_other(sandbox: Sandbox) -> None:
    code = "import os, sys\nopen('own', 'x').close()\nprint(sys.stdin.read(), len(os.listdir('.')))"

    async def all_of_them():
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(sandbox.run(program(code, stdin=str(number).encode())))
                for number in range(6)
            ]
        return [task.result().stdout for task in tasks]

    assert asyncio.run(all_of_them()) == [f"{number} 2\n".encode() for number in range(6)]


def test_giving_up_ends_the_program_and_leaves_nothing(sandbox: Sandbox) -> None:
    async def give_up():
        running = asyncio.create_task(
            sandbox.run(program("import time\ntime.sleep(600)", limits=Limits(wall_s=600)))
        )
        warden = await the_warden()
        family = [warden, *warden.children(recursive=True)]
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return family

    family = asyncio.run(give_up())
    assert psutil.wait_procs(family, timeout=SAFETY_STOP_S)[1] == []
    assert wardens() == []


def test_a_killed_keeper_is_a_refusal_and_its_program_ends_with_it(sandbox: Sandbox) -> None:
    async def kill():
        running = asyncio.create_task(
            sandbox.run(program("import time\ntime.sleep(600)", limits=Limits(wall_s=600)))
        )
        warden = await the_warden()
        family = warden.children(recursive=True)
        warden.kill()
        return await running, family

    outcome, family = asyncio.run(kill())
    assert outcome.end == "refused"
    assert outcome.stderr == b"its keeper ended with -9"
    assert psutil.wait_procs(family, timeout=SAFETY_STOP_S)[1] == []


ASKER = """
import asyncio, sys
from bench.sandbox import Limits, Program, Sandbox
code = b"import time; time.sleep(600)"
program = Program(language="python", argv=("m",), files={"m": code}, limits=Limits(wall_s=600))
asyncio.run(Sandbox().run(program))
"""


def test_a_killed_asker_takes_everything_along(found: Protections) -> None:
    with subprocess.Popen([sys.executable, "-c", ASKER]) as asker:
        family = _sleeping_family(psutil.Process(asker.pid))
        asker.send_signal(signal.SIGKILL)
        assert asker.wait() == -signal.SIGKILL
    assert psutil.wait_procs(family, timeout=SAFETY_STOP_S)[1] == []


def _sleeping_family(asker: psutil.Process) -> list[psutil.Process]:
    """Wait for the program itself, not for one of the probe's: it lies there under its name."""
    for _ in range(6_000):
        family = asker.children(recursive=True)
        try:
            if any(one.cmdline()[-1:] == ["m"] for one in family):
                return family
        except psutil.NoSuchProcess:
            pass
        with pytest.raises(psutil.TimeoutExpired):
            asker.wait(timeout=0.01)
    pytest.fail("the program never ran")


def test_a_machine_without_a_sandbox_runs_nothing() -> None:
    none = Protections(level="none", walls=None, items=(), why="nothing known for plan9")
    outcome = asyncio.run(Sandbox(none).run(program("print(1)")))
    assert (outcome.end, outcome.stdout) == ("refused", b"")
    assert outcome.stderr == b"this machine has no sandbox: nothing known for plan9"


def test_a_language_without_an_interpreter_is_refused(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    interpreter.cache_clear()
    try:
        wanted = Program(language="javascript", argv=("m.js",), files={"m.js": b""})
        assert asyncio.run(sandbox.run(wanted)).stderr == b"no interpreter for javascript was found"
        assert run_now(wanted, "namespaces")[0].end == "refused"
    finally:
        interpreter.cache_clear()


def test_a_program_that_reads_its_own_folder_only(sandbox: Sandbox) -> None:
    code = f"import os\nprint(os.path.exists({str(Path(__file__))!r}), os.environ.get('PWD'))"
    outcome = asyncio.run(sandbox.run(program(code)))
    assert outcome.stdout == b"False None\n"
    assert os.path.exists(__file__)  # noqa: PTH110 - the very call that the program made
