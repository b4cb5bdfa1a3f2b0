"""Try once per Node version whether guarded files start through the shim.

``Module.runMain`` is old and used by many, but not promised by Node's documentation.
"""

import json
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

from orchestrator.entry import Program, ShimPlace, plan_entry
from orchestrator.ports import StateFolder

_TRIAL_S = 30.0
_GUARDED = {
    "a.mjs": "import { pathToFileURL } from 'node:url';\n"
    "if (import.meta.url === pathToFileURL(process.argv[1]).href) process.stdout.write('main');\n",
    "b.cjs": "if (require.main === module) process.stdout.write('main');\n",
}


class NodeTrial:
    """Remembers the answer in the state folder, by the interpreter's path, size and age."""

    def __init__(self, state: StateFolder) -> None:
        self._state = state

    def runs_main(self, node: Path) -> bool:
        """Say whether both guarded files ran as the main module."""
        real = node.resolve()
        seen = real.stat()
        key = sha256(f"{real}\0{seen.st_size}\0{seen.st_mtime_ns}".encode()).hexdigest()[:8]
        known = self._state.read(f"{key}.node")
        if known is not None:
            return known == b"true\n"
        answer = all(_ran_as_main(real, name, text) for name, text in _GUARDED.items())
        self._state.write(f"{key}.node", json.dumps(answer).encode() + b"\n")
        return answer


def _ran_as_main(node: Path, name: str, text: str) -> bool:
    with tempfile.TemporaryDirectory() as made:
        # macOS gives a link, and guards compare real paths.
        folder = Path(made).resolve()
        (folder / name).write_text(text)
        plan = plan_entry(
            Program(runtime="node", interpreter="node", entry=folder / name),
            "shim",
            executable=node,
            place=ShimPlace(folder=folder, stem="0a1b2c3d"),
        )
        if plan.shim is None:
            return False
        plan.shim.path.write_text(plan.shim.text)
        try:
            done = subprocess.run(
                [str(node), *plan.argv[1:]],
                capture_output=True,
                timeout=_TRIAL_S,
                check=False,
                env={},
                cwd=folder,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0 and done.stdout == b"main"
