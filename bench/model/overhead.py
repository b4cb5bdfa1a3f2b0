"""What an overhead run says besides the comparison of two arms."""

from typing import Literal

from bench.model.record import Record

BufferingVerdict = Literal["none", "coalesces", "holds_back", "undecided"]


class StreamShape(Record, frozen=True, kw_only=True):
    """How the streams of one arm were cut: medians over its answers."""

    answers: int
    chunks: float
    """Token chunks of an answer."""
    bursts: float
    """Groups of chunks that came together."""
    chunks_per_burst: float
    burst_bytes: float | None = None
    """Bytes of the body in a burst; ``None`` = lengths were not recorded."""
    held_back_share: float
    """0..1; answers that came in at most two bursts, near their end."""
    gap_ms: float | None = None
    """Median gap between bursts."""


class Buffering(Record, frozen=True, kw_only=True):
    """Whether the changed arm passes a stream on as it gets it."""

    verdict: BufferingVerdict
    text: str
    """For sentences: ``does not buffer``, ``passes it on in bursts of about 16 KB``."""
    base: StreamShape | None = None
    changed: StreamShape | None = None


class Claim(Record, frozen=True, kw_only=True):
    """What the gateway itself says it adds, beside what was measured."""

    level: int = 0
    answers: int
    """Of the level's warm blocks: those that ``measured_ms`` stands on."""
    claimed_ms: float
    """Median over its answers."""
    measured_ms: float | None
    """Added total time of the same level, warm."""


class LevelUse(Record, frozen=True, kw_only=True):
    """What the gateway's processes used while a level was measured. The base arm does not use them."""

    level: int
    cpu_ms_per_request: float | None = None
    """Idle use in that time included."""
    idle_cpu_cores: float | None = None
    """While only the base arm was asked."""
    rss_mb: float | None = None
    """Median, in 10**6 bytes."""
    rss_rise_mb: float | None = None
    """Largest minus the first sample of the run."""


class OverheadFindings(Record, frozen=True, kw_only=True):
    """Everything but the differences of times."""

    buffering: Buffering | None = None
    claim: Claim | None = None
    """The first of ``claims``, for programs that know of one only."""
    claims: tuple[Claim, ...] = ()
    """Level by level: how long a gateway takes depends on how much it has to do."""
    use: tuple[LevelUse, ...] = ()
