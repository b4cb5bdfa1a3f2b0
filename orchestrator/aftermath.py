"""Write the end of a journal whose benchmark process died: incident, gateway, footer.

Only then: while that process lives it alone writes. The lines are plain JSON in the shapes of
docs/journal.md, so that nothing of the benchmark is imported here.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalState:
    """How far a journal got."""

    has_end: bool
    """Its last record is a footer: the process wrote its own end."""
    is_torn: bool
    """Its last line was cut by the death."""
    in_flight: tuple[str, ...]
    """Trials that were begun in the last process and have no record: possibly billed."""
    begun_offset_ms: float
    """Where the offsets of the last process begin."""
    last_offset_ms: float
    """The latest offset that any record holds."""
    incidents: frozenset[tuple[str, int]] = frozenset()
    """Class and monotonic moment of each that is written down."""


def read_state(path: Path) -> JournalState:
    """Read how far a journal got; damaged lines are skipped."""
    data = path.read_bytes()
    begun = last = 0.0
    kind = ""
    open_trials: dict[str, None] = {}
    incidents: set[tuple[str, int]] = set()
    for record in _records(data):
        kind = record.get("type", "")
        last = max(last, *_offsets(record), 0.0)
        if kind == "resumed":
            begun = float(record.get("offsetMs") or 0.0)
            open_trials.clear()
        elif kind == "started":
            open_trials[str(record.get("trialId"))] = None
        elif kind == "trial":
            open_trials.pop(str(_trial(record).get("id")), None)
        elif kind == "incident":
            incidents.add((str(record.get("class")), int(record.get("atNs") or 0)))
    return JournalState(
        has_end=kind == "footer",
        is_torn=bool(data) and not data.endswith(b"\n"),
        in_flight=tuple(open_trials),
        begun_offset_ms=begun,
        last_offset_ms=last,
        incidents=frozenset(incidents),
    )


def append(path: Path, records: tuple[Mapping[str, Any], ...], *, is_torn: bool) -> None:
    """Append records, forced to the disk; a cut last line is closed off first."""
    lines = b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records)
    with path.open("ab") as file:
        file.write(b"\n" + lines if is_torn else lines)
        file.flush()
        os.fsync(file.fileno())


def incident(
    *,
    kind: str,
    at: str,
    at_ns: int,
    summary: str,
    detail: Mapping[str, Any],
    touched: tuple[str, ...],
) -> dict[str, Any]:
    """Return an incident record.

    Args:
        kind: Its class: ``client_killed``, ``gateway_killed`` …
        at: UTC, ISO 8601.
        at_ns: Monotonic clock.
        summary: One paragraph for people.
        detail: Values for programs.
        touched: Trials that were in flight.
    """
    return {
        "type": "incident",
        "class": kind,
        "at": at,
        "atNs": at_ns,
        "noticedNs": at_ns,
        "summary": summary,
        "detail": dict(detail),
        "touchedTrials": list(touched),
    }


def footer(*, at: str, offset_ms: float, reason: str, exit_code: int) -> dict[str, Any]:
    """Return the footer; what was spent is left to the reader, who knows the reserves."""
    return {
        "type": "footer",
        "finishedAt": at,
        "offsetMs": offset_ms,
        "reason": reason,
        "exitCode": exit_code,
        "notRun": [],
        "budgetUsedMs": {},
        "spentUsd": None,
    }


def _records(data: bytes) -> list[dict[str, Any]]:
    found = []
    for line in data.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            found.append(record)
    return found


def _trial(record: Mapping[str, Any]) -> Mapping[str, Any]:
    trial = record.get("trial")
    return trial if isinstance(trial, Mapping) else {}


def _offsets(record: Mapping[str, Any]) -> tuple[float, ...]:
    seen = (record.get("offsetMs"), _trial(record).get("finishedOffsetMs"))
    return tuple(float(one) for one in seen if isinstance(one, int | float)) or (0.0,)
