"""Who sends the load: this process, several that are started for it, or actors of a Ray cluster."""

import os
from collections.abc import Mapping
from importlib.util import find_spec

from bench.config import Config
from bench.errors import UsageFault
from bench.executor import Executor
from bench.keys import Origin
from bench.model.run_config import OptionOrigin
from bench.prepare.access import Access
from bench.prepare.load import load_processes
from bench.setting_text import shown
from bench.settings import SETTINGS, read_value


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


_SENDING = ("engine", "workers", "ray_address", "ray_cpus")


def sent_as_begun(
    config: Config, recorded: Mapping[str, OptionOrigin], *, is_own: bool
) -> tuple[Config, str | None]:
    """Return the settings of a run that is gone on with, and what to say: it sends as it was begun.

    What is typed wins; a file's or the environment's is for new runs. Where another engine is
    typed, nothing of the recorded one holds.

    Args:
        config: Of the command that goes on.
        recorded: Options that the run was begun with, by name.
        is_own: The journal is the user's own. A stranger's doesn't say to which cluster a key goes.

    Raises:
        UsageFault: It was sent from a cluster that only a stranger's journal names, or the journal
            holds what can't be such an option.
    """
    begun = {field: _recorded(field, recorded) for field in _SENDING}
    if _is_typed(config, "engine") and config.settings.engine != begun["engine"]:
        return config, None
    if begun["ray_address"] is not None and not is_own and not _is_typed(config, "ray_address"):
        where = f"--engine ray --ray-address {begun['ray_address']}"
        message = f"the run was sent from the Ray cluster at `{begun['ray_address']}`"
        hint = f"type `{where}` if you trust it, or `--engine local` to send from this machine"
        raise UsageFault(message, hint=hint)
    said = []
    for field in _SENDING:
        if not _is_typed(config, field):
            is_default = begun[field] == SETTINGS[field].default
            origin = Origin.DEFAULT if is_default else Origin.FLAG
            config = config.with_value(field, begun[field], origin=origin, label="the journal")
            if not is_default:
                said.append(f"--{SETTINGS[field].name} {shown(SETTINGS[field], begun[field])}")
    return config, f"as the run was begun: `{' '.join(said)}`" if said else None


def _is_typed(config: Config, field: str) -> bool:
    return config.trust[field] is Origin.FLAG


def _recorded(field: str, recorded: Mapping[str, OptionOrigin]) -> object:
    setting = SETTINGS[field]
    option = recorded.get(setting.name)
    if option is None or option.value is None:
        return setting.default
    try:
        return read_value(setting, option.value)
    except ValueError as fault:
        message = f"the journal's `{setting.name}` is `{option.value}`: {fault}"
        raise UsageFault(message) from fault


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
