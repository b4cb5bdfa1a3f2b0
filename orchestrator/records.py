"""What is written down about a running gateway, and how one is named on disk. Pure.

Nothing here is secret: variables are named, never shown. File names are eight hex digits and an
ending, so that a path of ours on a command line holds no word that anybody kills by.

Format history (the reader accepts each version listed, and refuses newer ones by name):
    1  first version
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any

import msgspec

from orchestrator.events import Event, Exit
from orchestrator.exposure import Exposure
from orchestrator.identity import Identity
from orchestrator.ports import Build

RECORD_VERSION = 1
_INSTALLED = frozenset({"node_modules", "site-packages", ".venv", "venv"})

TEARDOWN = "teardown"
"""Label of a gateway that has teardown commands: what describes it again."""
UPSTREAM_OF = "upstreamOf"
"""Label of a private simulator: the name of the gateway that it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One name in one worktree: what counts as the same gateway."""

    worktree: Path
    """Real path: links resolved."""
    name: str

    @property
    def id(self) -> str:
        """Eight hex digits that name all its files."""
        return sha256(f"{self.worktree}\0{self.name}".encode()).hexdigest()[:8]


class Adopter(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who is the parent of the detached gateway."""

    pid: int
    name: str


class Lease(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """For how long a gateway may stay up; at least one of the two limits is set."""

    ttl_s: float | None = None
    idle_stop_s: float | None = None
    since_ns: int
    """Monotonic clock when it was given: the time to live counts from here."""


class StopAsked(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who typed `stop`: written before the first signal, for whoever watches the gateway."""

    pid: int
    """Of the `stop` command."""
    at: str
    """UTC, ISO 8601 with seconds."""


class Usage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the minder of a gateway writes down about it."""

    run_id: str
    used_ns: int
    """Monotonic clock when somebody was last seen connected; at first, when minding began."""


class GatewayRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One running gateway."""

    schema_version: int = RECORD_VERSION
    id: str
    worktree: str
    name: str
    run_id: str
    """Whole value of ``GWB_RUN`` in the environment of its processes."""
    identity: Identity
    machine: str | None = None
    """Which machine it was started on, as a hash; ``None`` = not known (or an older record)."""
    members: tuple[Identity, ...] = ()
    """Of its session when it was ready, leader included."""
    host: str
    port: int
    health_path: str
    log: str
    entry: str | None
    entry_mode: str
    """``shim``, ``shim-import``, ``import`` or ``direct``."""
    files: tuple[str, ...] = ()
    """Paths that go when the gateway is gone: the shim and its exit record."""
    exit_file: str | None = None
    """Name in the state folder of the exit record that the shim leaves."""
    build: Build
    adopter: Adopter
    fingerprint: dict[str, str] = {}
    """Hash of each part of what was asked for; empty for a process that was only attached to."""
    started_at: str
    """UTC, ISO 8601 with milliseconds."""
    started_ns: int
    ready_after_ms: float | None = None
    """``None`` while it is starting."""
    grace_s: float = 10.0
    lease: Lease | None = None
    """When it is to be ended though nobody asks for it; ``None`` = never."""
    minder: Identity | None = None
    """The process that sees to that."""
    exposure: tuple[Exposure, ...] = ()
    databases: dict[str, str] = {}
    """Variables that name a database, and a hash of which one: equal hashes are the same."""
    warnings: tuple[str, ...] = ()
    stop_asked: StopAsked | None = None
    """``None`` = nobody typed `stop`."""
    labels: dict[str, Any] = {}
    """What the caller keeps beside it (preset, upstream, name of the key's variable); no secret."""


class Ending(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the last gateway of this name ended; kept after its record is gone."""

    schema_version: int = RECORD_VERSION
    identity: Identity
    run_id: str
    name: str
    worktree: str
    port: int
    log: str
    ended_at: str
    was_asked: bool
    """True when we stopped it; False when it was found dead."""
    exit: Exit
    events: tuple[Event, ...] = ()
    because: str | None = None
    """Why it ended although nobody typed that."""
    stop_asked: StopAsked | None = None
    """As on its record."""
    is_torn_down: bool = False
    """Its teardown was begun: nobody else runs it again."""


class Preparation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A start that prepares: there from before its first `prepare` command until it is on record."""

    schema_version: int = RECORD_VERSION
    run_id: str
    name: str
    worktree: str
    launch: dict[str, Any]
    """What describes it again, as the label ``TEARDOWN`` of a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A record that says nothing reliable: what it speaks of is unknown and left alone."""

    why: str


def is_of_earlier_boot(record: GatewayRecord, here: Identity, machine: str | None) -> bool:
    """Say whether a record was certainly made by this machine, before it was restarted.

    Args:
        record: The record.
        here: Any process of this boot, ourselves.
        machine: Which machine this is; ``None`` = not known, and then nothing is certain.
    """
    then = record.identity
    # A container may be given its host's machine id; what runs beside it is out of its sight.
    if then.pid_namespace != here.pid_namespace:
        return False
    return machine is not None and record.machine == machine and then.boot_id != here.boot_id


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """Return the parts in which two fingerprints differ, in alphabetical order."""
    return tuple(part for part in sorted({*one, *other}) if one.get(part) != other.get(part))


def is_of_worktree(record: GatewayRecord) -> bool:
    """Say whether what runs is the worktree's own code: not installed, not a part of ours."""
    if record.labels.get("upstream") == "embedded":
        return False
    entry = PurePath(record.entry or "")
    if not entry.is_absolute():
        return True
    inside = entry.is_relative_to(record.worktree)
    return inside and _INSTALLED.isdisjoint(entry.relative_to(record.worktree).parts)


def record_name(instance_id: str) -> str:
    """Return the file name of an instance's record."""
    return f"{instance_id}.json"


def ending_name(instance_id: str) -> str:
    """Return the file name of an instance's last ending."""
    return f"{instance_id}.end"


def preparation_name(instance_id: str) -> str:
    """Return the file name of the note that an instance is being prepared."""
    return f"{instance_id}.prep"


def attached_name(pid: int) -> str:
    """Return the name that a gateway of somebody else is held under while it is attached to."""
    return f"PID {pid}"


def lock_name(instance_id: str) -> str:
    """Return the file name of an instance's start lock."""
    return f"{instance_id}.lock"


def use_name(instance_id: str) -> str:
    """Return the file name of the lock that whoever uses an instance shares."""
    return f"{instance_id}.use"


def minder_id(instance_id: str) -> str:
    """Return eight hex digits that name the files of an instance's minder."""
    return sha256(f"minder\0{instance_id}".encode()).hexdigest()[:8]


def usage_name(instance_id: str) -> str:
    """Return the file name of what an instance's minder writes down."""
    return f"{instance_id}.seen"


def decode_usage(data: bytes | None) -> Usage | None:
    """Read what a minder wrote down; odd or missing is as good as nothing."""
    try:
        return None if data is None else msgspec.json.decode(data, type=Usage)
    except msgspec.MsgspecError:
        return None


LOG_LIMIT_BYTES = 64 * 1024 * 1024
"""A log that is larger is emptied, and its end kept beside it."""


def log_name(instance_id: str) -> str:
    """Return the file name of an instance's log."""
    return f"{instance_id}.log"


def encode(record: GatewayRecord | Ending | Usage | Preparation) -> bytes:
    """Turn a record into the bytes of its file."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


class _Version(msgspec.Struct, rename="camel"):
    schema_version: int


def _checked(data: bytes) -> Unreadable | None:
    try:
        version = msgspec.json.decode(data, type=_Version).schema_version
    except msgspec.MsgspecError as fault:
        return Unreadable(why=f"is truncated or no record: {fault}")
    if version != RECORD_VERSION:
        return Unreadable(why=f"has format {version}, this program knows format {RECORD_VERSION}")
    return None


def decode(data: bytes) -> GatewayRecord | Unreadable:
    """Read a record; whatever is odd about it makes it unreadable, never half-read."""
    refused = _checked(data)
    if refused is not None:
        return refused
    try:
        return msgspec.json.decode(data, type=GatewayRecord)
    except msgspec.MsgspecError as fault:
        return Unreadable(why=f"does not hold what a record holds: {fault}")


def decode_ending(data: bytes) -> Ending | None:
    """Read how the last gateway ended; it only informs, so an odd one is as good as none."""
    if _checked(data) is not None:
        return None
    try:
        return msgspec.json.decode(data, type=Ending)
    except msgspec.MsgspecError:
        return None


def decode_preparation(data: bytes) -> Preparation | None:
    """Read the note of a start that prepared; an odd one says nothing that may be run."""
    if _checked(data) is not None:
        return None
    try:
        return msgspec.json.decode(data, type=Preparation)
    except msgspec.MsgspecError:
        return None
