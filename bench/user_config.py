"""The user's own configuration: what holds for every folder and every worktree on this machine.

`config.toml` in the user's configuration folder. A worktree's files and the environment can't
change what stands here.
"""

import tomllib
from difflib import get_close_matches
from pathlib import Path

from bench.errors import ConfigFaults, UsageFault, reason_in
from bench.model.record import Value
from bench.setting_readers import dollars

NAME = "config.toml"
_MAX_COST_PER_DAY = "max-cost-per-day"
_KNOWN = (_MAX_COST_PER_DAY,)


class UserConfig(Value, frozen=True, kw_only=True):
    """Its settings."""

    path: Path
    """It need not exist."""
    max_cost_per_day: float | None = None
    """US dollars per UTC day, over all runs of this user; ``None`` = no limit."""


def load_user_config(folder: Path) -> UserConfig:
    """Return the user's configuration; without a file, the defaults.

    Args:
        folder: Where it is looked for.

    Raises:
        UsageFault: The file is no TOML or can't be read.
        ConfigFaults: A setting that is unknown or can't be read.
    """
    path = folder / NAME
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return UserConfig(path=path)
    except OSError as fault:
        message = f"`{path}` can't be read: {reason_in(fault)}"
        raise UsageFault(message) from fault
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as fault:
        message = f"`{path}` can't be read: {fault}"
        raise UsageFault(message) from fault
    faults = [f"`{path}`: no setting `{key}`{_meant(key)}" for key in table if key not in _KNOWN]
    limit = None
    if _MAX_COST_PER_DAY in table:
        raw = table[_MAX_COST_PER_DAY]
        try:
            limit = dollars("" if isinstance(raw, bool) else str(raw))
        except ValueError:
            faults.append(
                f"`{path}`: `{_MAX_COST_PER_DAY}` is `{raw}`: US dollars above 0 are needed"
            )
    if faults:
        raise ConfigFaults(faults)
    return UserConfig(path=path, max_cost_per_day=limit)


def _meant(key: str) -> str:
    near = get_close_matches(key, _KNOWN, n=1, cutoff=0.5)
    return f"; did you mean `{near[0]}`?" if near else f"; there is {', '.join(_KNOWN)}"
