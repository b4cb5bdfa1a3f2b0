"""The folder that a run's files are written to."""

import os
from pathlib import Path

from bench.errors import UsageFault, reason_in


def make_folder(folder: Path) -> None:
    """Create the output folder; the default one keeps its content out of git.

    Raises:
        UsageFault: It can't be created or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if folder.parts[-2:] == (".context", "benchmarks"):
            ignore = folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")
    except OSError as error:
        message = f"the output folder `{folder}` can't be written: {reason_in(error)}"
        hint = "name another one with `BENCHMARK_OUTPUT_DIR`"
        raise UsageFault(message, hint=hint) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        message = f"the output folder `{folder}` can't be written: permission denied"
        raise UsageFault(message, hint="name another one with `BENCHMARK_OUTPUT_DIR`")
