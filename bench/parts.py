"""What each measuring process of a run saw of the gateway's resource use. Pure."""

from dataclasses import dataclass, field

from bench.model.run import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
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
