"""One start: which gateway, under which name, for whom, and with what around it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.description import GatewayConfig
from orchestrator.faults import UpstreamKeyMissing
from orchestrator.launching import Surroundings, Upstream
from orchestrator.lifecycle import Machine
from orchestrator.locate import Located
from orchestrator.records import Instance

ANSWER_BOOK = "answers.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What a gateway has in common with one that is up beside it."""

    upstream: Upstream
    """Taken instead of a simulator of its own; where the description names another one, that counts."""
    answer_book: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One start: which gateway, under which name, for whom."""

    config: GatewayConfig
    located: Located
    name: str
    run_id: str
    caller: Mapping[str, str]
    models: tuple[str, ...] = ()
    key_names: tuple[str, ...] = ()
    ttl_s: float | None = None
    """It ends by itself after this long."""
    idle_stop_s: float | None = None
    """It ends by itself once nobody was connected for this long."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    shared: Shared | None = None

    @property
    def instance(self) -> Instance:
        """Who it is among all gateways of this user."""
        return Instance(worktree=worktree_of(self.located.folder), name=self.name)

    @property
    def upstream_instance(self) -> Instance:
        """Its simulator, where it has one."""
        return upstream_of(self.instance)


def worktree_of(folder: Path) -> Path:
    """Return the real path of the git worktree that holds ``folder``, else of the folder."""
    real = folder.resolve()
    return next((one for one in (real, *real.parents) if (one / ".git").exists()), real)


def upstream_of(instance: Instance) -> Instance:
    """Return the name of the simulator that belongs to a gateway."""
    return Instance(worktree=instance.worktree, name=f"{instance.name}-upstream")


def generated_folder(machine: Machine, instance: Instance) -> Path:
    """Return the private folder for files made for this gateway: a name that says nothing."""
    return machine.state.root / f"{instance.id}.d"


def surroundings_of(wanted: Wanted, folder: Path) -> Surroundings:
    """Return what a start knows before its simulator is up.

    Args:
        wanted: The start.
        folder: For generated files.

    Raises:
        UpstreamKeyMissing: The variable that should hold the upstream's key is not set.
    """
    return Surroundings(
        caller=wanted.caller,
        generated=folder,
        upstream=_named_upstream(wanted.config, wanted.caller),
        answer_book=folder / ANSWER_BOOK if wanted.shared is None else wanted.shared.answer_book,
        models=wanted.models,
        key_names=wanted.key_names,
    )


def _named_upstream(config: GatewayConfig, caller: Mapping[str, str]) -> Upstream:
    """Return the upstream where it is a URL, with its key.

    Raises:
        UpstreamKeyMissing: The variable that should hold the key is not set.
    """
    if not config.upstream.startswith("http"):
        return Upstream()
    name = config.upstream_key_env
    if name is not None and not caller.get(name):
        raise UpstreamKeyMissing(name, config.upstream)
    return Upstream.at(config.upstream, token=caller[name] if name else None)
