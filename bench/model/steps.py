"""What is written while a run asks: before each request, after each answer, at each shard."""

from bench.model.record import Record
from bench.model.trial import Refusal, Trial
from bench.model.turn import TurnTrace


class Started(Record, frozen=True, kw_only=True, tag="started"):
    """Written before the request is sent."""

    trial_id: str
    attempt: int = 1
    turn: int | None = None
    stage: int | None = None
    """Of a trial of a load stage."""
    offset_ms: float
    reserve_usd: float | None = None
    """Counts as spent if no trial record follows; ``None`` = no bound is known."""


class AttemptRefused(Record, frozen=True, kw_only=True, tag="refused"):
    """A request that HTTP 429, or this machine itself, refused; written before the wait.

    Its next attempt follows, or the record of its trial or turn when nothing more could be sent.
    """

    trial_id: str
    turn: int | None = None
    refusal: Refusal


class TurnDone(Record, frozen=True, kw_only=True, tag="turn"):
    """A finished turn of an agentic trial. Its number says which earlier turns it follows."""

    trial_id: str
    attempt: int = 1
    turn: TurnTrace


class TrialDone(Record, frozen=True, kw_only=True, tag="trial"):
    """A finished trial. Of an agentic one, the money stands in its ``turn`` records."""

    attempt: int = 1
    trial: Trial


class ShardOpened(Record, frozen=True, kw_only=True, tag="shard"):
    """A load process began to write; what it wrote is read where this journal goes on."""

    number: int
    file: str
    """Name of its journal, in this one's folder."""
    pid: int | None = None
    host: str | None = None
    node: str | None = None
    """Of a cluster, as the cluster names it."""


class ShardClosed(Record, frozen=True, kw_only=True, tag="shard_end"):
    """A load process writes no more; without this record nobody saw its end."""

    number: int
    is_complete: bool
    """Everything that it sent has its end in its journal."""
    detail: str = ""
    """How it was lost."""
