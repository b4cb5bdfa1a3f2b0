"""The words between the process that leads a run and the load processes that send for it.

Nothing is said per request: a stage is shared out before it begins, and once a second each load
process says how far it is. Times named ``…_ns`` are readings of the clock of whoever says or is told
them; offsets are milliseconds since the run's beginning, as in every record.

A stage, from the leader's side::

    Prepare ─▶ all        they write `stage_begun`, connect, warm up
    ◀─ Prepared of all    the leader reads their clocks (Probe, Echo) and picks a moment
    Begin ─▶ all          the same moment for all, still to come
    ◀─ Progress           each second; Grant, Finish or Stop ─▶ as need be
    ◀─ Ended of all       nothing of theirs is in flight any more
"""

import msgspec

from bench.model.footer import StopReason
from bench.model.header import Header
from bench.model.load import ClientReading, Stage, StageEnd
from bench.model.record import Record
from bench.model.surroundings import Incident, Vantage
from bench.model.trial import Response


class Share(Record, frozen=True, kw_only=True):
    """Which part of a stage is whose: of senders and arrivals every ``count``-th from ``index``."""

    index: int = 0
    """From 0; below ``count``."""
    count: int = 1


class Busy(Record, frozen=True, kw_only=True, array_like=True):
    """An interval in which a target had a request of this process in flight, as offsets."""

    target_id: str
    from_ms: float
    to_ms: float


class Arrived(Record, frozen=True, kw_only=True, array_like=True):
    """One answer, as far as a rising queue shows in it."""

    started_ms: float
    in_flight: int
    first_token_ms: float


class Sums(Record, frozen=True, kw_only=True):
    """What came of a share by now."""

    sent: int = 0
    finished: int = 0
    succeeded: int = 0
    inside: int = 0
    """Inside every objective."""
    unreached: int = 0
    unreached_by: str = ""
    tokens: int = 0
    in_flight: int = 0
    late: int = 0
    dropped: int = 0
    spent_usd: float = 0.0
    """Known spend of this share."""
    unknown_costs: int = 0


class LastFact(Record, frozen=True, kw_only=True):
    """What of a trial decides how the run ended."""

    trial_id: str
    target_id: str
    warmup: bool
    finished_offset_ms: float
    error_code: str | None
    is_invalidated: bool


class Buckets(Record, frozen=True, kw_only=True):
    """A histogram of fixed relative error, to be added to others (``bench.load.sketch``)."""

    count: int = 0
    total: float = 0.0
    smallest: float | None = None
    largest: float = 0.0
    zeros: int = 0
    buckets: dict[int, int] = {}


# ---- told to a load process ----------------------------------------------------------


class Setup(Record, frozen=True, kw_only=True, tag="setup"):
    """The first word: what the run is. It holds no secret; those travel apart."""

    number: int
    """Of the load process, from 1; no two of a run share one, those of a resumed run included."""
    header: Header
    """The run's; it is written as the shard's own with ``shard`` in it."""
    has_tags: bool = True
    explains: bool = False
    """Somebody knows what happened to the gateway: failures are asked about (``AskWhy``)."""


class Probe(Record, frozen=True, kw_only=True, tag="probe"):
    """Asks for the clock; answered by ``Echo`` at once."""

    number: int


class Prepare(Record, frozen=True, kw_only=True, tag="prepare"):
    """Get ready for a stage."""

    target_id: str
    case_id: str
    stage: Stage
    """The whole of it."""
    attempt: int
    share: Share
    origin_ns: int
    """Reading of this process's clock at ``offset_ms``."""
    offset_ms: float
    budget_used_ms: dict[str, float] = {}
    """By target id, of all processes."""
    slice_usd: float | None = None
    """What this process may spend in the stage before it is granted more; ``None`` = no limit."""


class Begin(Record, frozen=True, kw_only=True, tag="begin"):
    """The stage begins when this process's clock reads ``at_ns``."""

    at_ns: int


class Grant(Record, frozen=True, kw_only=True, tag="grant"):
    """More money."""

    slice_usd: float
    """What may be spent in the stage in all, what was granted before included."""
    is_last: bool = False
    """There is no more: what doesn't fit ends the share by ``max_cost``."""


class Finish(Record, frozen=True, kw_only=True, tag="finish"):
    """Send nothing more in this stage; what is in flight finishes."""

    reason: StageEnd
    detail: str = ""


class Stop(Record, frozen=True, kw_only=True, tag="stop"):
    """The run ends."""

    reason: StopReason
    cancels: bool = False
    """What is in flight is given up."""
    incident: Incident | None = None
    """What ended the gateway."""


class Noted(Record, frozen=True, kw_only=True, tag="noted"):
    """Something happened: record it with the trials of this process that it touched."""

    incident: Incident
    """Its readings are of this process's clock."""


class Why(Record, frozen=True, kw_only=True, tag="why"):
    """The answer to ``AskWhy``."""

    trial_id: str
    incident: Incident | None = None


class Dismiss(Record, frozen=True, kw_only=True, tag="dismiss"):
    """The last word: close the shard and go."""


Order = Setup | Probe | Prepare | Begin | Grant | Finish | Stop | Noted | Why | Dismiss


# ---- told by a load process ----------------------------------------------------------


class Ready(Record, frozen=True, kw_only=True, tag="ready"):
    """The answer to ``Setup``: the shard has its header, requests could be sent."""

    pid: int
    host: str
    capacity: int
    """Connections that it may have open at a time."""


class Echo(Record, frozen=True, kw_only=True, tag="echo"):
    """The clock, read when the probe came."""

    number: int
    now_ns: int


class Prepared(Record, frozen=True, kw_only=True, tag="prepared"):
    """Connections are open, warm-ups are over; ``Begin`` is waited for."""


class Progress(Record, frozen=True, kw_only=True, tag="progress"):
    """How far a share is, once a second; nothing of it is said twice but ``sums``."""

    sums: Sums
    failed: int = 0
    """Trials with an error, warm-ups included, since the last report."""
    done: int = 0
    """Trials, warm-ups included, since the last report."""
    busy: tuple[Busy, ...] = ()
    """Since the last report; one that goes on is told up to now."""
    arrived: tuple[Arrived, ...] = ()
    """The last of them."""
    has_limit: bool = False
    """A limit of its machine keeps this process from sending; it sends nothing more."""


class AskMoney(Record, frozen=True, kw_only=True, tag="ask_money"):
    """What is left of the slice is little, or too little for the next request."""

    slice_usd: float
    """The slice as it is."""
    least_usd: float
    """What has to be added before the next request may go; 0 = it may."""


class AskWhy(Record, frozen=True, kw_only=True, tag="ask_why"):
    """A request failed: what happened to the gateway?"""

    trial_id: str
    response: Response


class Ended(Record, frozen=True, kw_only=True, tag="ended"):
    """A share is over: nothing of it is in flight, its records have left the process."""

    sums: Sums
    reason: StageEnd
    detail: str = ""
    scheduled: int | None = None
    connections: int | None = None
    """So many of its share could be open at a time, fewer than asked; ``None`` = as many."""
    sending_ended_offset_ms: float | None = None
    """``None`` = nothing was sent."""
    ended_offset_ms: float
    totals: Buckets = Buckets()
    """Total times of answers without an error."""
    client: ClientReading
    facts: tuple[LastFact, ...] = ()
    """The last trials of each target, and one success."""
    vantage: Vantage = Vantage()
    refusal: Response | None = None
    """The first answer, where it refused the key."""


class Failed(Record, frozen=True, kw_only=True, tag="failed"):
    """This process can't go on."""

    message: str
    """One sentence for people, masked."""
    is_disk_full: bool = False


Report = Ready | Echo | Prepared | Progress | AskMoney | AskWhy | Ended | Failed


def encode(word: Order | Report) -> bytes:
    """Return one word as JSON, without a line break."""
    return msgspec.json.encode(word)


_ORDERS: msgspec.json.Decoder[Order] = msgspec.json.Decoder(Order)
_REPORTS: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)


def decode_order(data: bytes) -> Order:
    """Return what a load process is told.

    Raises:
        msgspec.DecodeError: It is none of the words.
    """
    return _ORDERS.decode(data)


def decode_report(data: bytes) -> Report:
    """Return what a load process tells.

    Raises:
        msgspec.DecodeError: It is none of the words.
    """
    return _REPORTS.decode(data)
