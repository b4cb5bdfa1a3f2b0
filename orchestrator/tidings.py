"""Carry what the lookout sees to the measuring process, which writes it down.

Before that process has its journal it may be waiting for a person's yes, for minutes: only the
first sample, of the idle gateway, is kept for it until then.
"""

import threading
from collections.abc import Collection
from typing import Any

from orchestrator.bringing import Up
from orchestrator.exposure import Exposure
from orchestrator.link import Line
from orchestrator.lookout import Reading, Watched
from orchestrator.masking import secret_values
from orchestrator.notes import Note
from orchestrator.records import GatewayRecord


def watched(up: Up) -> Watched:
    """Return what the lookout has to know of a gateway that is up."""
    return Watched(
        record=up.started.record,
        kill_patterns=up.wanted.config.kill_patterns,
        secrets=secret_values(up.environment.values),
    )


class Tidings:
    """Takes samples and notices from the lookout's thread.

    Args:
        link: To the measuring process.
        record: Of the gateway; what it shows of exposure was said when it came up.
    """

    def __init__(self, link: Line, record: GatewayRecord) -> None:
        self._link = link
        self._exposure = record.exposure
        self._lock = threading.Lock()
        self._first: Reading | None = None
        self._has_journal = False
        self.notes: list[Note] = []
        """Everything that was noticed, in order."""

    def journal_made(self) -> None:
        """From now on samples are taken; the first one goes ahead."""
        with self._lock:
            self._has_journal = True
            if self._first is not None:
                self._link.offer(_sample(self._first))

    def reading(self, reading: Reading) -> None:
        """Take a sample; one that the other side is too slow for is left out."""
        with self._lock:
            if self._has_journal:
                self._link.offer(_sample(reading))
            elif self._first is None:
                self._first = reading

    def note(self, note: Note) -> None:
        """Take a notice."""
        self.notes.append(note)
        self._link.send(
            {
                "type": "incident",
                "class": note.incident_class,
                "atNs": note.at_ns,
                "sinceNs": note.since_ns,
                "summary": note.summary,
                "detail": note.detail,
                "fatal": False,
                "told": is_known(note, self._exposure),
            }
        )


def is_known(note: Note, exposure: Collection[Exposure]) -> bool:
    """Say whether a notice only repeats what was said when the gateway came up."""
    known = {(one.pid, one.pattern) for one in exposure}
    found = note.detail.get("processes", ()) if note.incident_class == "exposed" else ()
    return bool(found) and all((one["pid"], one["pattern"]) in known for one in found)


def _sample(reading: Reading) -> dict[str, Any]:
    return {"type": "sample", "atNs": reading.at_ns, "values": dict(reading.values)}
