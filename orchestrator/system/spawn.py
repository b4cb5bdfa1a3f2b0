"""Start detached processes through a helper that is gone before the gateway is looked at."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from orchestrator.errors import ExecFailed, NotStarted
from orchestrator.ports import Absence, Birth, ProcessTable, SpawnOrder
from orchestrator.system import detach

# Nothing but this is on the helper's command line; the rest comes in on stdin.
_BOOT = "import sys;exec(sys.stdin.read())"
# Forking takes milliseconds; a machine that needs longer than this swaps or is suspended.
_ANSWER_S = 60.0

_UNSEEN = {
    Absence.GONE: "a process outside of this PID namespace",
    # On macOS that is launchd: it belongs to root.
    Absence.HIDDEN: "a process of another user",
}


class HelperSpawner:
    """Spawns through ``python -I -S``.

    Args:
        table: Names the adopter.
    """

    def __init__(self, table: ProcessTable) -> None:
        self._table = table

    def adopter(self) -> tuple[int, str]:
        """Return PID and name of who adopts an orphan of ours."""
        with _helper({"do": "adopter"}, keep=()) as helper:
            pid = int(_answer(helper)["pid"])
        seen = self._table.look(pid)
        return pid, _UNSEEN[seen] if isinstance(seen, Absence) else seen.name

    @contextmanager
    def spawn(self, order: SpawnOrder) -> Iterator[Birth]:
        """Fork; inside the context the process waits, leaving it lets it execute.

        Raises:
            ExecFailed: On leaving, with errno.
        """
        heard, word = os.pipe()
        try:
            with _helper(_as_json(order, heard), keep=(heard,)) as helper:
                os.close(heard)
                heard = -1
                yield Birth(pid=int(_answer(helper)["pid"]))
                os.write(word, b"g")
                refused = _answer(helper)
        finally:
            # Closed without the word, it tells the process to end instead.
            os.close(word)
            if heard >= 0:
                os.close(heard)
        if refused:
            raise ExecFailed(refused["step"], refused["path"], refused["errno"], refused["said"])


def _as_json(order: SpawnOrder, heard: int) -> dict[str, Any]:
    return {
        "do": "spawn",
        "go": heard,
        "executable": str(order.executable),
        "argv": list(order.argv),
        "environment": dict(order.environment),
        "folder": str(order.folder),
        "log": str(order.log),
    }


@contextmanager
def _helper(order: Mapping[str, Any], keep: tuple[int, ...]) -> Iterator[subprocess.Popen[bytes]]:
    # The interpreter itself, not the environment's link to it: a worktree's folder must not show.
    python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    source = Path(detach.__file__).read_text("utf-8")
    helper = subprocess.Popen(
        # A bare name, found in PATH: no folder on the command line either.
        [python.name, "-I", "-S", "-X", "utf8", "-c", _BOOT],
        executable=str(python),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=keep,
        start_new_session=True,
        cwd="/",
        env={"PATH": str(python.parent)},
    )
    with helper:
        if helper.stdin is not None:
            with suppress(BrokenPipeError):
                helper.stdin.write(f"{source}\nmain({dict(order)!r})\n".encode())
                helper.stdin.close()
        try:
            yield helper
        except BaseException:
            # The process it forked sees the closed pipe and ends; nobody waits for the helper.
            helper.kill()
            raise


def _answer(helper: subprocess.Popen[bytes]) -> dict[str, Any]:
    if helper.stdout is None or not select.select([helper.stdout], [], [], _ANSWER_S)[0]:
        message = f"the helper that detaches the gateway said nothing for {_ANSWER_S:g} s"
        raise NotStarted(message)
    line = helper.stdout.readline()
    if not line:
        said = helper.stderr.read().decode(errors="replace") if helper.stderr else ""
        message = f"the helper that detaches the gateway ended: {said.strip()[-500:]}"
        raise NotStarted(message)
    answer: dict[str, Any] = json.loads(line)
    return answer
