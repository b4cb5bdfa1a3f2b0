"""What a record, a marker and a suspicion are worth: a verdict with its reason. Pure.

A process is ours by its identity on record or by the whole value of its marker together with the
place of its record; never for its name, folder, parent or port.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath

from orchestrator.holding import Holding
from orchestrator.identity import Identity
from orchestrator.lifecycle import Standing
from orchestrator.ports import ProcessDetail, ProcessInfo
from orchestrator.records import GatewayRecord
from orchestrator.suspects import Suspicion
from orchestrator.worktrees import Place

Judgement = tuple["Verdict", str]


class Verdict(StrEnum):
    """What one of them is; in the order in which people are shown them."""

    HELD = "held"
    """On record, and somebody uses it."""
    BUSY = "busy"
    """On record, and being started or stopped at this moment."""
    IDLE = "idle"
    """On record and up, used by nobody."""
    UNREGISTERED = "unregistered"
    """Carries our marker and no record speaks of it: what a gateway left behind."""
    DEAD = "dead"
    """On record, and gone."""
    UNVERIFIED = "unverified"
    """It can't be told; nothing is done to it, and its record stays."""
    FOREIGN = "foreign"
    """On record from another machine or PID namespace, or from a boot of who knows which machine;
    its record stays."""
    SUSPECT = "suspect"
    """Looks like a gateway, without our marker."""
    ELSEWHERE = "elsewhere"
    """Ours, on record in another state folder."""
    OTHER_USER = "other user"
    CONTAINER = "container"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A record with what was found out about it."""

    record: GatewayRecord
    standing: Standing
    place: Place
    held_by: Holding | None = None
    """Who uses it; ``None`` = nobody."""
    busy_by: str | None = None
    """Who starts or stops it; ``None`` = nobody."""
    quiet_s: float | None = None
    """Since it was last taken into use or let go; ``None`` = it never was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """Processes with one marker that no record knows."""

    run_id: str
    record_path: str | None
    processes: tuple[ProcessInfo, ...]
    held_by: Holding | None = None
    busy_by: str | None = None
    is_record_unreadable: bool = False
    """There is a record at ``record_path`` that can't be read: it may be theirs."""

    @property
    def head(self) -> ProcessInfo:
        """The one that stands for all: the leader of its session, else the oldest."""
        return min(
            self.processes, key=lambda one: (one.session != one.pid, one.identity.start_ticks)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Everything that was seen, at one moment."""

    us: Identity
    user: int
    state_root: str
    table: tuple[ProcessInfo, ...] = ()
    known: tuple[Known, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    """Records that can't be read: path, and why."""
    marked: tuple[Marked, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    places: Mapping[int, Place] = field(default_factory=dict)
    """Where processes without a record run, by PID."""
    details: Mapping[int, ProcessDetail] = field(default_factory=dict)
    attached: Mapping[int, Holding] = field(default_factory=dict)
    """Who is attached to a process without a record, by its PID."""
    ports: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Ports that each process listens on."""


def idle_s_of(known: Known) -> float | None:
    """Return for how long nobody has used a living gateway: since its start, or its last use."""
    seen = known.standing.seen
    if known.standing.state not in ("up", "suspended") or seen is None or seen.age_s is None:
        return None
    return seen.age_s if known.quiet_s is None else min(seen.age_s, known.quiet_s)


def age_text(seconds: float | None) -> str:
    """Return an age in its two largest units at most: ``45s``, ``12m``, ``3h 20m``, ``2d 4h``."""
    if seconds is None:
        return "-"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d {hours}h" if hours else f"{days}d"
    if hours:
        return f"{hours}h {minutes}m" if minutes else f"{hours}h"
    return f"{minutes}m" if minutes else f"{rest}s"


def judge_record(known: Known, scene: Scene, session: tuple[ProcessInfo, ...]) -> Judgement:
    """Judge a record; who uses it comes before what became of it.

    Args:
        known: The record.
        scene: What was seen.
        session: Its living processes.
    """
    state, why = known.standing.state, known.standing.why
    if known.held_by is not None:
        return Verdict.HELD, _held_reason(known)
    if known.busy_by is not None:
        return Verdict.BUSY, f"being started or stopped by {known.busy_by}"
    if state == "unknown":
        return _unknown(known, scene)
    if state in ("gone", "reused"):
        left = f"; {len(session)} of its processes are left" if session else ""
        return Verdict.DEAD, f"{why}{left}"
    return _up(known, scene)


def _up(known: Known, scene: Scene) -> Judgement:
    seen = known.standing.seen
    if seen is not None and seen.user != scene.user:
        return Verdict.OTHER_USER, f"it runs as user {seen.user} now"
    if known.record.ready_after_ms is None:
        return Verdict.IDLE, "its start was broken off before it was ready"
    suspended = "; it is suspended" if known.standing.state == "suspended" else ""
    return Verdict.IDLE, f"nobody has used it for {age_text(idle_s_of(known))}{suspended}"


def _held_reason(known: Known) -> str:
    how = {"up": "in use", "suspended": "suspended, but in use"}
    return how.get(known.standing.state, f"{known.standing.why}, but in use")


def _unknown(known: Known, scene: Scene) -> Judgement:
    recorded = known.record.identity
    here = (scene.us.boot_id, scene.us.pid_namespace)
    is_foreign = (recorded.boot_id, recorded.pid_namespace) != here
    path = f"{scene.state_root}/{known.record.id}.json"
    return (
        Verdict.FOREIGN if is_foreign else Verdict.UNVERIFIED,
        f"{known.standing.why}; its record `{path}` stays until you remove it",
    )


def judge_marked(marked: Marked, scene: Scene) -> Judgement:
    """Judge processes that carry our marker and are on no record."""
    outside = next(filter(None, (judge_outside(one, scene) for one in marked.processes)), None)
    if outside is not None:
        return outside
    if marked.record_path is None:
        return Verdict.SUSPECT, "carries our marker, but not where it is on record"
    path = PurePath(marked.record_path)
    if str(path.parent) != scene.state_root:
        return Verdict.ELSEWHERE, f"its record is `{path}`, in another state folder"
    return _in_our_folder(marked)


def _in_our_folder(marked: Marked) -> Judgement:
    if marked.held_by is not None:
        return Verdict.HELD, "not on record, but in use"
    if marked.busy_by is not None:
        return Verdict.BUSY, f"being started or stopped by {marked.busy_by}"
    if marked.is_record_unreadable:
        path = marked.record_path
        return Verdict.UNVERIFIED, f"the record `{path}`, which may be its own, can't be read"
    return Verdict.UNREGISTERED, "carries our marker, and no record speaks of it"


def judge_outside(one: ProcessInfo, scene: Scene) -> Judgement | None:
    """Say why a process is out of our hands whatever it carries; ``None`` = it is not."""
    detail = scene.details.get(one.pid, ProcessDetail())
    if detail.container is not None:
        return Verdict.CONTAINER, f"runs in a container (`{detail.container[:24]}`)"
    if detail.namespace is not None and detail.namespace != scene.us.pid_namespace:
        return Verdict.CONTAINER, "runs in a PID namespace of its own"
    if one.user != scene.user:
        return Verdict.OTHER_USER, f"belongs to user {one.user}"
    if detail.namespace is None and scene.us.pid_namespace is not None:
        return Verdict.UNVERIFIED, "its PID namespace is hidden from this user"
    return None
