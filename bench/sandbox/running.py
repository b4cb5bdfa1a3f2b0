"""Run programs in the strongest sandbox that this machine was found to have."""

import asyncio
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bench.errors import Refused
from bench.sandbox import judging
from bench.sandbox.interpreters import interpreter
from bench.sandbox.ordering import order
from bench.sandbox.probing import find_out
from bench.sandbox.program import Language, Outcome, Program, Protections, refusal
from bench.sandbox.warden_process import WardenProcess

_NAMES_OF: Mapping[Language, str] = {"python": "Python", "javascript": "Node"}
_SMALLEST: Mapping[Language, tuple[str, bytes]] = {
    "python": ("runs.py", b"print('runs')\n"),
    # Modules and `await` at the top: the tasks' driver needs them, and an old Node has neither.
    "javascript": (
        "runs.mjs",
        b'import { writeSync } from "node:fs";\nwriteSync(1, await Promise.resolve("runs\\n"));\n',
    ),
}
_MOST_QUOTED = 160
_NAMES: Mapping[int, str] = {one.value: one.name for one in signal.Signals}


def probe() -> Protections:
    """Find out by trying what the sandbox of this machine holds; takes some hundred milliseconds."""
    return find_out(run_now)


def language_fault(language: Language, protections: Protections) -> str | None:
    """Return why programs of a language don't run here, one sentence; ``None`` = one did."""
    if interpreter(language) is None:
        return f"{_NAMES_OF[language]} is not in `PATH`."
    if protections.walls is None:
        return "There is no sandbox."
    path, text = _SMALLEST[language]
    program = Program(language=language, argv=(path,), files={path: text})
    found, _ = run_now(program, protections.walls)
    if (found.end, found.exit_code, found.stdout) == ("exited", 0, b"runs\n"):
        return None
    said = found.stderr.decode(errors="replace").strip().splitlines()[-1:]
    told = f": {ascii(said[0])[1:-1][:_MOST_QUOTED]}" if said else ""
    return f"{_NAMES_OF[language]} does not run in the sandbox ({found.end}{told})."


def require(protections: Protections, *, allow_reduced: bool) -> None:
    """Refuse to go on below the minimum level.

    Raises:
        Refused: With what is missing, and how a person allows a reduced sandbox by name.
    """
    why = refusal(protections, allow_reduced=allow_reduced)
    if why is None:
        return
    hint = "`gateway-bench doctor` says what to do about it"
    if protections.level == "reduced":
        hint += "; `--allow-reduced-sandbox` runs the models' code with what there is"
    message = f"the code of the models is not run: {why}"
    raise Refused(message, hint=hint)


class Sandbox:
    """Runs each program in a fresh sandbox. Nothing of it outlives ``run``."""

    def __init__(self, protections: Protections | None = None) -> None:
        """Take what ``probe`` found, or find out."""
        self.protections = protections or probe()

    async def run(self, program: Program) -> Outcome:
        """Run a program to its end or to a limit; never raises for what it does.

        Cancelling ends the program, and returns once nothing of it is left.
        """
        walls = self.protections.walls
        if walls is None:
            return judging.refused(f"this machine has no sandbox: {self.protections.why}")
        wanted = order(program, walls)
        if wanted is None:
            return judging.refused(f"no interpreter for {program.language} was found")
        with WardenProcess(wanted) as warden:
            waiting = asyncio.ensure_future(asyncio.to_thread(warden.result))
            try:
                facts = await asyncio.shield(waiting)
            except asyncio.CancelledError:
                warden.give_up()
                with suppress(asyncio.CancelledError):
                    await waiting
                raise
        return judging.outcome(facts, program.language, program.limits, _NAMES)


def run_now(program: Program, walls: str) -> tuple[Outcome, Mapping[str, Any]]:
    """Run a program behind the named walls, without an event loop; return also the raw facts."""
    wanted = order(program, walls)
    if wanted is None:
        why = f"no interpreter for {program.language} was found"
        return judging.refused(why), {"refused": why}
    with WardenProcess(wanted) as warden:
        facts = warden.result()
    return judging.outcome(facts, program.language, program.limits, _NAMES), facts
