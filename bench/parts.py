"""What each process of a run left: what it saw of the gateway, how its journal ended. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from bench.model.record import Value
from bench.model.steps import ShardClosed, ShardOpened
from bench.model.surroundings import Incident, Sample


class Part(Value, frozen=True, kw_only=True):
    """What one measuring process saw of the gateway's resource use."""

    offset_ms: float
    """Where the offsets of that process begin."""
    samples: tuple[Sample, ...]
    requests: int
    """Begun before its last sample."""


@dataclass(slots=True)
class OpenPart:
    """A part that is being read."""

    offset_ms: float
    samples: list[Sample] = field(default_factory=list)
    begun: int = 0
    sampled: int = 0
    """How many were begun when the last sample was written."""

    def take(self, sample: Sample) -> None:
        """Take the next sample."""
        self.samples.append(sample)
        self.sampled = self.begun

    def closed(self) -> Part:
        """Return the whole part."""
        return Part(offset_ms=self.offset_ms, samples=tuple(self.samples), requests=self.sampled)


class OpenShards:
    """The journals of load processes that a run's own journal names."""

    def __init__(self) -> None:
        self._opened: dict[int, ShardOpened] = {}
        self._ends: dict[int, ShardClosed] = {}

    def take(self, record: ShardOpened | ShardClosed) -> None:
        """Take the next record."""
        if isinstance(record, ShardOpened):
            self._opened[record.number] = record
        else:
            self._ends[record.number] = record

    @property
    def opened(self) -> tuple[ShardOpened, ...]:
        """All of them, in order."""
        return tuple(self._opened.values())

    def broken(self) -> dict[int, str]:
        """Return the number of each that did not end in order, and how."""
        seen = {number: self._ends.get(number) for number in self._opened}
        return {
            number: "nobody saw its end" if end is None else end.detail
            for number, end in seen.items()
            if end is None or not end.is_complete
        }


def merged_incidents(incidents: Iterable[Incident]) -> tuple[Incident, ...]:
    """Return each incident once: every process recorded it, with the trials of its own."""
    found: dict[tuple[str, str, str], Incident] = {}
    for one in incidents:
        key = (one.incident_class, one.at, one.summary)
        before = found.get(key)
        touched = one.touched_trials if before is None else before.touched_trials
        if before is not None:
            touched = tuple(dict.fromkeys((*touched, *one.touched_trials)))
        found[key] = msgspec.structs.replace(before or one, touched_trials=touched)
    return tuple(found.values())
