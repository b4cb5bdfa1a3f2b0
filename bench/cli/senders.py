"""Who sends the load: this process, or several that are started for it."""

import os

from bench.config import Config
from bench.executor import Executor
from bench.prepare.access import Access
from bench.prepare.load import load_processes


def load_executor(config: Config, access: Access) -> tuple[Executor | None, int]:
    """Return what starts load processes, and how many; ``None`` = this process sends.

    Raises:
        UsageFault: More are asked for than have a processor.
    """
    workers = load_processes(
        config.settings.workers, processors=_processors(), is_local=access.address.is_loopback
    )
    if workers == 1:
        return None, 1
    from bench.fleet.local import LocalExecutor  # most runs need nothing of it

    return LocalExecutor(), workers


def _processors() -> int:
    """Return how many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # macOS has none
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1
