"""How a command ended, as one value, and the object that ``--json`` prints for it.

The shipped schema (``bench/schemas/command-result.json``) is generated from ``CommandObject``.

Format history:
    1  first version
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from bench.model.record import Record

MAX_BYTES = 8_000
"""The object stays under 8 KB, so that an agent's context can hold it."""
_MAX_TEXT = 1_200
"""Characters of one sentence before it is cut."""

Status = Literal["done", "failed", "incomplete", "gate_failed", "refused", "undecided", "stopped"]

_STATUS: Mapping[int, Status] = {
    0: "done",
    4: "incomplete",
    5: "incomplete",
    6: "gate_failed",
    7: "refused",
    8: "undecided",
    130: "stopped",
    143: "stopped",
}
_RESUMABLE = frozenset({4, 5, 130, 143})


class CommandObject(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The one object on stdout. ``None`` = not known or not of this command."""

    schema: Literal["gateway-bench/command-result"] = "gateway-bench/command-result"
    schema_version: Literal[1] = 1
    command: str
    status: Status
    exit_code: int
    reason: str | None
    """One word for programs: ``done``, ``usage_fault``, ``key_missing``, ``max_cost`` ..."""
    retryable: bool
    """The same command, or ``next``, may end otherwise without anything being mended."""
    run_id: str | None
    headline: str
    """One sentence for people; of a failure, what happened."""
    planned: int | None
    done: int | None
    failed: int | None
    spent_usd: float | None
    files: tuple[str, ...]
    """Absolute paths that were written."""
    next: str | None
    """What to do or type next."""
    detail: dict[str, Any] = msgspec.field(default_factory=dict)
    """The command's own part."""
    truncated: bool = False
    """Something in ``detail``, ``headline`` or ``files`` was left out to stay under 8 KB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command returns to ``entry.run``. Fields as in ``CommandObject``."""

    exit_code: int = 0
    reason: str | None = None
    run_id: str | None = None
    headline: str = ""
    planned: int | None = None
    done: int | None = None
    failed: int | None = None
    spent_usd: float | None = None
    files: tuple[str, ...] = ()
    next: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    is_fault: bool = False
    """It ended by an error and not by what it did; no part of the object."""
    status: Status | None = None
    """``None`` = as the exit code says; set where that is another command's."""
    is_retryable: bool = False
    """It may end otherwise by itself, although the exit code does not say so."""
    text: str = ""
    """What stdout gets without ``--json``: data that can be piped."""


def encode_outcome(command: str, outcome: Outcome) -> bytes:
    """Return the JSON of ``outcome``, shortened until it is under 8 KB."""
    made = CommandObject(
        command=command,
        status=outcome.status or _STATUS.get(outcome.exit_code, "failed"),
        exit_code=outcome.exit_code,
        reason=outcome.reason or ("done" if outcome.exit_code == 0 else None),
        retryable=outcome.is_retryable
        or (outcome.status is None and outcome.exit_code in _RESUMABLE),
        run_id=outcome.run_id,
        headline=outcome.headline[:_MAX_TEXT],
        planned=outcome.planned,
        done=outcome.done,
        failed=outcome.failed,
        spent_usd=outcome.spent_usd,
        files=outcome.files,
        next=outcome.next[:_MAX_TEXT] if outcome.next else None,
        detail=dict(outcome.detail),
        truncated=len(outcome.headline) > _MAX_TEXT,
    )
    encoded = msgspec.json.encode(made)
    while len(encoded) >= MAX_BYTES:
        made = _shorter(made)
        encoded = msgspec.json.encode(made)
    return encoded


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of the object that every command prints with ``--json``."""
    return msgspec.json.schema(CommandObject)


def _shorter(made: CommandObject) -> CommandObject:
    """Halve the longest list of the own part; without one, give up the part, then the files."""
    lists = {key: value for key, value in made.detail.items() if _is_long(value)}
    if lists:
        longest = max(lists, key=lambda key: len(msgspec.json.encode(lists[key])))
        kept = lists[longest][: len(lists[longest]) // 2]
        return msgspec.structs.replace(made, detail={**made.detail, longest: kept}, truncated=True)
    if made.detail:
        return msgspec.structs.replace(made, detail={}, truncated=True)
    if made.files:
        return msgspec.structs.replace(
            made, files=made.files[: len(made.files) // 2], truncated=True
        )
    half = made.headline[: len(made.headline) // 2]
    return msgspec.structs.replace(made, headline=half, next=None, truncated=True)


def _is_long(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0
