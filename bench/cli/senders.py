"""Who sends the load: this process, several that are started for it, or actors of a Ray cluster."""

import os
from importlib.util import find_spec

from bench.config import Config
from bench.errors import UsageFault
from bench.executor import Executor
from bench.keys import Origin
from bench.prepare.access import Access
from bench.prepare.load import load_processes


def load_executor(config: Config, access: Access) -> tuple[Executor | None, int]:
    """Return what starts load processes, and how many; ``None`` = this process sends.

    Raises:
        UsageFault: More are asked for than have a processor, or Ray isn't installed.
    """
    workers = check_senders(config, is_local=access.address.is_loopback)
    if config.settings.engine == "ray":
        return _ray(config, access), workers
    if workers == 1:
        return None, 1
    from bench.fleet.local import LocalExecutor  # most runs need nothing of it

    return LocalExecutor(), workers


def check_senders(config: Config, *, is_local: bool) -> int:
    """Return how many processes send the load.

    Args:
        config: Of the run.
        is_local: What is measured runs on this machine.

    Raises:
        UsageFault: More are asked for than have a processor, or Ray isn't installed.
    """
    if config.settings.engine != "ray":
        _refuse_without_ray(config)
        return load_processes(config.settings.workers, processors=_processors(), is_local=is_local)
    if find_spec("ray") is None:
        message = "`--engine ray` needs Ray, which is not installed here"
        raise UsageFault(message, hint="install the extra: `pip install 'gateway-bench[ray]'`")
    return config.settings.workers


def _ray(config: Config, access: Access) -> Executor:
    from bench.cluster.executor import RayExecutor

    return RayExecutor(
        address=config.settings.ray_address,
        processors=config.settings.ray_cpus,
        withheld=access.secrets,
    )


def _refuse_without_ray(config: Config) -> None:
    for name in ("ray_address", "ray_cpus"):
        if config.trust[name] is Origin.FLAG:
            option = f"--{name.replace('_', '-')}"
            message = f"`{option}` is of a Ray cluster: it needs `--engine ray`"
            raise UsageFault(message)


def _processors() -> int:
    """Return how many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # macOS has none
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1
