#!/usr/bin/env python3
"""The operator's command: write a result's reports again, without one request.

scripts/render_results.py ABSOLUTE_PATH.json
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run `render` on the named file."""
    enter_venv()
    try:
        from bench.cli.entry import run
        from bench.cli.render import render_command
    except ImportError as fault:
        print(
            f"error: {fault.name or fault} is not installed for {sys.executable}", file=sys.stderr
        )
        print(f"hint: run `{ROOT / 'scripts' / 'demo'}` once, it sets .venv up", file=sys.stderr)
        return 2
    return run(render_command, sys.argv[1:], prog_name="scripts/render_results.py")


def enter_venv() -> None:
    """Go on under the project's own Python, unless this is it or there is none."""
    python = ROOT / ".venv" / "bin" / "python"
    if Path(sys.prefix) != ROOT / ".venv" and python.is_file():
        os.execv(python, [str(python), *sys.argv])  # noqa: S606  the same words, another Python
    sys.path.insert(0, str(ROOT))


if __name__ == "__main__":
    sys.exit(main())
