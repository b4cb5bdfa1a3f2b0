"""Runs programs like the sandbox, but with no protection at all: only for code of this project."""

import asyncio
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from bench.sandbox.program import End, Outcome, Program

_INTERPRETERS = {"python": sys.executable, "javascript": shutil.which("node") or "node"}


class PlainSandbox:
    """A stand-in for `bench.sandbox.Sandbox`: a fresh folder, a wall limit, nothing else."""

    async def run(self, program: Program) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="plain-") as folder:
            _write(program, Path(folder))
            process = await asyncio.create_subprocess_exec(
                _INTERPRETERS[program.language],
                *program.argv,
                cwd=folder,
                env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            late = False
            try:
                async with asyncio.timeout(program.limits.wall_s):
                    stdout, stderr = await process.communicate(program.stdin)
            except TimeoutError:
                late = True
                process.kill()
                stdout, stderr = await process.communicate()
        code = process.returncode
        assert code is not None
        end: End = "wall_limit" if late else "exited" if code >= 0 else "signalled"
        return Outcome(
            end=end,
            exit_code=code if end == "exited" else None,
            signal=signal.Signals(-code).name if code < 0 else None,
            stdout=stdout,
            stderr=stderr,
            output_cut=False,
            duration_ns=1,
        )


def _write(program: Program, folder: Path) -> None:
    for path, content in program.files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
