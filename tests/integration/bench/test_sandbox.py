"""`Sandbox` as its users have it: side by side, given up, and with its keeper gone."""

import asyncio
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from bench.sandbox import Limits, Outcome, Program, Protections, Sandbox, probe
from bench.sandbox.interpreters import interpreter
from bench.sandbox.ordering import order
from bench.sandbox.probing import Walls, find_out
from bench.sandbox.running import run_now
from bench.sandbox.warden_process import WardenProcess
from bench.warden.accounting import Account, places
from bench.warden.order import Order
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.integration


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
    return [one for one in psutil.Process().children() if _is_warden(one)]


def _is_warden(process: psutil.Process) -> bool:
    try:
        return any("bench.warden" in word for word in process.cmdline())
    except psutil.NoSuchProcess:  # it ended meanwhile
        return False


def _has_grandchild(process: psutil.Process) -> bool:
    try:
        return len(process.children(recursive=True)) > 1
    except psutil.NoSuchProcess:
        return False


async def the_warden(*, but: frozenset[int] = frozenset()) -> psutil.Process:
    """Wait until the program of a keeper runs: it has a child that has a child."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for one in wardens():
                if one.pid not in but and _has_grandchild(one):
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
    assert psutil.wait_procs(family, timeout=PATIENCE_S)[1] == []
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
    assert psutil.wait_procs(family, timeout=PATIENCE_S)[1] == []


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
    assert psutil.wait_procs(family, timeout=PATIENCE_S)[1] == []


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


def test_control_groups_count_what_joins_them_and_are_removed() -> None:
    account = Account(memory_bytes=64 << 20, processes=5)
    if not account.held:
        pytest.skip("no control group can be made here")
    child = os.fork()
    if child == 0:
        account.join()
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    assert all(account.how(name) in ("cgroup v1", "cgroup v2") for name in account.held)
    assert (account.memory_kills(), account.refused_processes()) == (0, 0)
    account.close()
    left = [one for place in places() for one in Path(place.folder).glob(f"*sandbox-{os.getpid()}")]
    assert left == []
    assert (account.memory_kills(), account.refused_processes()) == (0, 0)


def test_a_control_group_is_removed_once_the_last_of_its_processes_is_gone() -> None:
    account = Account(memory_bytes=64 << 20, processes=5)
    if not account.held:
        pytest.skip("no control group can be made here")
    (joined, has_joined), (end, ends) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        account.join()
        os.close(ends)
        os.write(has_joined, b"x")
        os.read(end, 1)
        os._exit(0)
    assert os.read(joined, 1) == b"x"
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(account.close)
        os.close(ends)
        os.waitpid(child, 0)
        closing.result()
    for descriptor in (joined, has_joined, end):
        os.close(descriptor)
    left = [one for place in places() for one in Path(place.folder).glob(f"*sandbox-{os.getpid()}")]
    assert left == []


def test_who_gave_up_before_the_order_was_read_gets_a_refusal() -> None:
    wanted = order(program("pass"), "namespaces")
    assert wanted is not None
    with WardenProcess(wanted) as warden:
        warden.give_up()
        assert "its keeper ended with 1" in warden.result()["refused"]


@pytest.mark.parametrize("walls", ["namespaces", "landlock"])
def test_an_order_names_everything_the_warden_needs(walls: Walls) -> None:
    wanted = order(program("pass"), walls)
    assert wanted is not None
    read = Order(wanted)
    assert read.is_alone is (walls == "landlock")
    assert read.file_bytes == 16 * 1024 * 1024
    assert all(Path(path).exists() for path in (*read.looked_at, *read.covers, read.argv[0]))


def outcome(**fields) -> Outcome:
    plain: dict[str, Any] = {
        "end": "exited",
        "exit_code": 0,
        "signal": None,
        "stdout": b"",
        "stderr": b"",
    }
    return Outcome(**(plain | {"output_cut": False, "duration_ns": 1} | fields))


def test_where_no_walls_can_be_put_up_both_reasons_are_told() -> None:
    def run(_program: Program, walls: Walls) -> tuple[Outcome, dict[str, object]]:
        if walls == "namespaces":
            return outcome(end="refused", stderr=b"unshare: Operation not permitted"), {}
        return outcome(exit_code=1, stderr=b"Traceback\nImportError: no encodings"), {}

    found = find_out(run)
    assert (found.level, found.walls, found.items) == ("none", None, ())
    assert found.why == (
        "namespaces: unshare: Operation not permitted; "
        "landlock: Python does not run behind them (exited: ImportError: no encodings)"
    )


def test_walls_that_let_a_file_be_written_are_none_even_if_nothing_was_said() -> None:
    def run(asked: Program, _walls: Walls) -> tuple[Outcome, dict[str, object]]:
        if asked.argv[0] == "look.py":
            Path(asked.argv[2]).with_name("written").write_text("")
            return outcome(stdout=b'{"writes": false, "connects": false}'), {}
        return outcome(stdout=b"40"), {}

    found = find_out(run)
    held = {item.id: item.held for item in found.items}
    assert (found.level, held["writing"], held["network"]) == ("none", False, True)
    assert (held["memory"], held["count"]) == (False, False)
