"""The truth proxy as a real process, for tests: started on a free port, stopped by its PID."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.patience import PATIENCE_S

_PROGRAM = Path(__file__).with_name("truth_proxy.py")


@dataclass(frozen=True, kw_only=True)
class TruthProxy:
    """One running proxy."""

    url: str
    log_path: Path

    def inside(self, figure: str) -> float:
        """Return the median of what it logged: ``firstMs``, ``totalMs`` or ``gapMs``."""
        lines = self.log_path.read_text().splitlines()
        values: list[float] = [json.loads(line)[figure] for line in lines]
        return median(values)


@contextmanager
def running_proxy(folder: Path, upstream: str, *options: str) -> Iterator[TruthProxy]:
    """Run a proxy in front of ``upstream`` (``http://host:port``) while the context is open."""
    log = folder / f"inside-{len(list(folder.glob('inside-*')))}.jsonl"
    words = ["--upstream", upstream.removeprefix("http://"), "--log", str(log), *options]
    process = subprocess.Popen(
        [sys.executable, str(_PROGRAM), *words], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("truth proxy ready: "), line
        yield TruthProxy(url=line.split()[-1], log_path=log)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
