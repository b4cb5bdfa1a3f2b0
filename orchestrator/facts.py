"""What is told of a gateway: to the measuring process, in results and in ``--json``. Pure."""

from typing import Any

import msgspec

from orchestrator.bringing import Up
from orchestrator.events import Event, Exit
from orchestrator.lifecycle import Stopped
from orchestrator.ports import Build
from orchestrator.records import GatewayRecord, is_of_worktree


def build_facts(record: GatewayRecord) -> dict[str, Any]:
    """Return the build with the names of result documents; unknown stays ``None``.

    Of a program that was installed, or lies elsewhere, the worktree's commit says nothing.
    """
    build = (
        record.build if is_of_worktree(record) else Build(entry_sha256=record.build.entry_sha256)
    )
    return {
        "entrySha256": build.entry_sha256,
        "commit": build.commit,
        "tree": build.tree,
        "branch": build.branch,
        "isDirty": build.is_dirty,
        "diffSha256": build.diff_sha256,
        "newerSource": build.newer_source,
    }


def gateway_state(up: Up, stopped: Stopped | None = None) -> dict[str, Any]:
    """Return the gateway as ``hello`` and ``outcome`` carry it."""
    record = up.started.record
    ending = None if stopped is None else stopped.ending
    events = [*up.started.events, *(() if ending is None else ending.events)]
    return {
        "build": {
            **build_facts(record),
            "entry": record.entry,
            "entryMode": record.entry_mode,
            "worktree": record.worktree,
            "preset": up.wanted.config.preset,
            "upstream": up.wanted.config.upstream,
            "warnings": list(record.warnings),
        },
        "identity": {
            **msgspec.to_builtins(record.identity),
            "port": record.port,
            "adopter": msgspec.to_builtins(record.adopter),
            "exposure": msgspec.to_builtins(record.exposure),
        },
        "events": _events(events),
        "readyAfterMs": record.ready_after_ms,
        "exit": None if ending is None else exit_facts(ending.exit),
    }


def exit_facts(end: Exit) -> dict[str, Any]:
    """Return how a process ended."""
    facts: dict[str, Any] = msgspec.to_builtins(end)
    return facts


def record_facts(record: GatewayRecord) -> dict[str, Any]:
    """Return a record for ``--json``: who, where, which build. No secrets are in a record."""
    return {
        "name": record.name,
        "worktree": record.worktree,
        "pid": record.identity.pid,
        "port": record.port,
        "url": f"http://{record.host}:{record.port}",
        "log": record.log,
        "startedAt": record.started_at,
        "readyAfterMs": record.ready_after_ms,
        "preset": record.labels.get("preset"),
        "upstream": record.labels.get("upstream"),
        "apiKeyEnv": record.labels.get("apiKeyEnv"),
        "entry": record.entry,
        "entryMode": record.entry_mode,
        "build": build_facts(record),
        "adopter": msgspec.to_builtins(record.adopter),
        "exposure": msgspec.to_builtins(record.exposure),
        "warnings": list(record.warnings),
    }


def _events(events: list[Event]) -> list[dict[str, Any]]:
    once = {(one.name, one.at_ns): one for one in events}
    return [msgspec.to_builtins(one) for one in once.values()]
