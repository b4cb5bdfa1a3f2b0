#!/usr/bin/env python3
"""The operator's command: benchmark MODEL in production, every active mapping, smoke, two minutes.

    scripts/run_benchmark.py MODEL [MAPPINGS] [RUNS] [options of `gateway-bench bench`]

The address is `BENCHMARK_API_URL`, else the llmgateway preset's; `--url` and `--api-key-env` point
it at a local gateway. `--parallel N` is the old name of `--parallel-groups N`. Reports go to
`BENCHMARK_OUTPUT_DIR`, else `.context/benchmarks`.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLD_NAMES = {"--parallel": "--parallel-groups"}


def main() -> int:
    """Run `bench` with the operator's defaults."""
    enter_venv()
    try:
        from bench.cli.bench import bench_command
        from bench.cli.entry import run
    except ImportError as fault:
        print(
            f"error: {fault.name or fault} is not installed for {sys.executable}", file=sys.stderr
        )
        print(f"hint: run `{ROOT / 'scripts' / 'demo'}` once, it sets .venv up", file=sys.stderr)
        return 2
    words = [new_name(word) for word in sys.argv[1:]]
    argv = words if asks_preset(words) else ["--preset=llmgateway", *words]
    return run(bench_command, argv, prog_name="scripts/run_benchmark.py")


def new_name(word: str) -> str:
    """Return an option under today's name."""
    name, equals, value = word.partition("=")
    return f"{OLD_NAMES.get(name, name)}{equals}{value}"


def asks_preset(words: list[str]) -> bool:
    """Whether a preset was typed."""
    return any(word == "--preset" or word.startswith("--preset=") for word in words)


def enter_venv() -> None:
    """Go on under the project's own Python, unless this is it or there is none."""
    python = ROOT / ".venv" / "bin" / "python"
    if Path(sys.prefix) != ROOT / ".venv" and python.is_file():
        os.execv(python, [str(python), *sys.argv])  # noqa: S606  the same words, another Python
    sys.path.insert(0, str(ROOT))


if __name__ == "__main__":
    sys.exit(main())
