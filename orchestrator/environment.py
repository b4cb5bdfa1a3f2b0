"""The environment a gateway is started with, and what was done to the caller's. Pure.

An exported variable wins over an env file, as in Node. Only what makes the gateway reachable and
points it at its upstream is set over it: a stale export must not send a free run to a paid API.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orchestrator.config import PRODUCTION_KEYS

OWN_PREFIX = "GWB_"


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayEnvironment:
    """What the gateway gets, and the names (never values) that people are told about."""

    values: Mapping[str, str]
    added: tuple[str, ...]
    """Not in the caller's environment."""
    dropped: tuple[str, ...]
    """In the caller's environment, and kept from the gateway."""
    shadowed: tuple[str, ...]
    """In an env file, but an exported variable won."""
    replaced: tuple[str, ...]
    """Exported, but set to something else for this start."""


def gateway_environment(
    caller: Mapping[str, str],
    *,
    env_files: Iterable[Mapping[str, str]],
    fills: Mapping[str, str],
    sets: Mapping[str, str],
    keys: Iterable[str],
) -> GatewayEnvironment:
    """Build the environment of a gateway.

    Args:
        caller: The whole environment of the command.
        env_files: Their content, in order; a later file wins over an earlier one.
        fills: From the description; where neither caller nor file says anything.
        sets: Port variables and the way to the upstream; win over everything.
        keys: Variables of the benchmark's own keys, beside the production keys. They are kept
            from the gateway unless an env file names them.
    """
    from_files: dict[str, str] = {}
    for one in env_files:
        from_files |= one
    hidden = {*keys, *PRODUCTION_KEYS}
    kept = {
        name: value
        for name, value in caller.items()
        if not name.startswith(OWN_PREFIX) and (name not in hidden or name in from_files)
    }
    values = {**fills, **from_files, **kept, **sets}
    return GatewayEnvironment(
        values=values,
        added=tuple(sorted(values.keys() - caller.keys())),
        dropped=tuple(sorted(caller.keys() - values.keys())),
        shadowed=tuple(
            sorted(
                name for name in from_files if kept.get(name, from_files[name]) != from_files[name]
            )
        ),
        replaced=tuple(sorted(name for name in sets if kept.get(name, sets[name]) != sets[name])),
    )
