"""A journal's records, put in order: what counts, what was paid, what is missing.

The last record of a trial id counts in figures; every record counts in spend.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import assert_never

import msgspec

from bench.charges import Charge, Spend, by_target
from bench.errors import JournalUnreadable
from bench.flight_book import FlightBook
from bench.model.blocks import PlannedTrial
from bench.model.footer import Footer
from bench.model.header import Header, NewLimits, Resumed
from bench.model.journal_record import JournalRecord
from bench.model.load import StageBegun, StageDone
from bench.model.run_config import RunConfig
from bench.model.steps import AttemptRefused, ShardClosed, ShardOpened, Started, TrialDone, TurnDone
from bench.model.surroundings import Gateway, Incident, Sample, Vantage
from bench.model.trial import Refusal, Trial
from bench.model.turn import TurnTrace
from bench.parts import OpenPart, OpenShards, Part, merged_incidents
from bench.stage_book import StageBook, Stages
from bench.turn_book import TurnBook


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """One run as its journal tells it."""

    header: Header
    trials: tuple[Trial, ...]
    """Last record of each trial id, in plan order; invalidated ones and warm-ups included."""
    superseded: tuple[Trial, ...] = ()
    """Earlier records of those ids: they count in spend only."""
    possibly_billed: tuple[Started, ...] = ()
    """Sent, and no end was recorded; the reserve counts as spent."""
    incidents: tuple[Incident, ...] = ()
    gateway: Gateway | None = None
    """Of two gateways the one of the base arm."""
    gateways: Mapping[str, Gateway] = field(default_factory=dict)
    """Both of them by side; empty = there is only one."""
    stages: Stages = field(default_factory=Stages)
    """Load stages; of many trials ``trials`` holds an even sample."""
    vantage: Vantage | None = None
    shards: tuple[ShardOpened, ...] = ()
    """Journals of load processes, in order; their records are among those of this ledger."""
    broken_shards: Mapping[int, str] = field(default_factory=dict)
    """Number of a load process whose end nobody saw, or that was lost → how."""
    parts: tuple[Part, ...] = ()
    """One for each process that wrote here, in order."""
    resumed: tuple[Resumed, ...] = ()
    footer: Footer | None = None
    """``None`` = the last process that wrote here did not end in order, or has not ended yet."""
    damaged_lines: int = 0
    missing: tuple[PlannedTrial, ...] = ()
    """Planned, and without a record or with an invalidated last one: what ``resume`` asks. Of a
    load stage that is not through its first trial stands for all."""
    attempts: Mapping[str, int] = field(default_factory=dict)
    """Trial id → number of its last attempt, lost ones included."""
    turns: Mapping[str, tuple[TurnTrace, ...]] = field(default_factory=dict)
    """Trial id → the turns of an agentic trial, as its last record or its cut-off end has them."""
    recorded_turns: Mapping[str, tuple[TurnTrace, ...]] = field(default_factory=dict)
    """Id of a missing agentic trial → turns after which it goes on, replayed and not paid again."""
    refusals: Mapping[str, tuple[Refusal, ...]] = field(default_factory=dict)
    """Id of a missing trial → attempts at it that HTTP 429 refused."""
    offset_ms: float = 0.0
    """The end of what was recorded: where a resuming process's offsets begin."""
    budget_used_ms: Mapping[str, float] = field(default_factory=dict)
    """Target id → union of the intervals in which one of its requests was in flight."""
    known_spend_usd: float = 0.0
    """All records, warm-ups and lost reserves included; what is unknown is left out."""
    unknown_costs: int = 0
    """Requests whose cost nobody knows."""
    spend: Mapping[str, Spend] = field(default_factory=dict)
    """The same by target id."""
    charges: tuple[Charge, ...] = ()
    """What all of it is the sum of: one for each request, in the order in which they began."""

    def config(self, new: NewLimits | None = None) -> RunConfig:
        """Return the run's settings with the limits that were set last.

        Args:
            new: Limits of a process that is about to go on with the run.
        """
        config = self.header.config
        for limits in (*(one.limits for one in self.resumed), *([new] if new else [])):
            if limits.budget is not None:
                config = msgspec.structs.replace(config, budget_ms=limits.budget.limit_ms)
            if limits.max_cost_usd is not None:
                config = msgspec.structs.replace(config, max_cost_usd=limits.max_cost_usd)
            allowance = limits.day_allowance_usd
            config = msgspec.structs.replace(config, day_allowance_usd=allowance)
        return config

    def moment(self, offset_ms: float) -> datetime:
        """Return an offset as a time of day in UTC, by the wall clock of its process's start."""
        begun = [(0.0, self.header.started_at), *((r.offset_ms, r.at) for r in self.resumed)]
        base_ms, at = max(each for each in begun if each[0] <= offset_ms)
        started = datetime.fromisoformat(at).astimezone(UTC)
        return started + timedelta(milliseconds=offset_ms - base_ms)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Return the samples of all parts."""
        return tuple(sample for part in self.parts for sample in part.samples)

    @property
    def spent_usd(self) -> float | None:
        """Return the whole spend in US dollars; ``None`` when some cost is unknown."""
        return None if self.unknown_costs else self.known_spend_usd


def collect(records: Iterable[JournalRecord], *, damaged_lines: int = 0) -> Ledger:
    """Return what the records of one journal say together.

    Args:
        records: In the order they were written.
        damaged_lines: Lines that could not be read, a cut last one included.

    Raises:
        JournalUnreadable: The records do not begin with a header.
    """
    stream = iter(records)
    header = next(stream, None)
    if not isinstance(header, Header):
        message = "the journal does not begin with a header"
        raise JournalUnreadable(message)
    book = _Book(header)
    for record in stream:
        book.enter(record)
    return book.close(damaged_lines)


@dataclass(frozen=True, slots=True)
class _Done:
    """A trial record and its place in the journal."""

    place: int
    attempt: int
    trial: Trial


class _Book:
    """Collects records one after another; ``close`` returns the ledger."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.planned = {trial.id: trial for block in header.plan for trial in block.trials}
        self.done: dict[str, list[_Done]] = defaultdict(list)
        self.turns = TurnBook()
        self.flights = FlightBook(self.planned)
        self.stages = StageBook(header.config)
        self.incidents: list[tuple[int, Incident]] = []
        self.gateway: Gateway | None = None
        self.gateways: dict[str, Gateway] = {}
        self.vantage: Vantage | None = None
        self.shards = OpenShards()
        self.parts: list[OpenPart] = [OpenPart(0.0)]
        self.resumed: list[Resumed] = []
        self.footer: Footer | None = None
        self.place = 0

    def enter(self, record: JournalRecord) -> None:
        """Take the next record."""
        self.place += 1
        match record:
            case Started():
                self.parts[-1].begun += 1
                self.flights.begun(record)
            case TurnDone() | TrialDone() | AttemptRefused():
                self._ended(record)
            case Incident():
                self.incidents.append((self.place, record))
            case StageBegun() | StageDone():
                self.stages.enter(record)
            case Gateway() | Vantage() | Sample() | ShardOpened() | ShardClosed():
                self._observed(record)
            case Resumed() | Footer():
                self._border(record)
            case Header():
                pass  # the first one describes the run; a second one is a foreign line
            case _:
                assert_never(record)

    def close(self, damaged_lines: int) -> Ledger:
        """Return the ledger of what was entered."""
        self._lose_open()
        self._apply_incidents()
        flights = self.flights
        order = {trial_id: number for number, trial_id in enumerate(self.planned)}
        ids = sorted(self.done, key=lambda trial_id: order.get(trial_id, len(order)))
        last = {trial_id: self.done[trial_id][-1].trial for trial_id in ids}
        charges = tuple(sorted(flights.charges.charges, key=lambda charge: charge.offset_ms))
        spend = by_target(charges)
        keeps_answers = self.header.config.save_responses
        stages = self.stages.close()
        missing = (
            *(
                trial
                for trial in self.planned.values()
                if trial.id not in last or last[trial.id].invalidated is not None
            ),
            *stages.missing(self.header.plan, seed=self.header.config.seed),
        )
        return Ledger(
            header=self.header,
            trials=(*last.values(), *(trial for _, trial in self.stages.kept)),
            stages=stages,
            vantage=self.vantage,
            shards=self.shards.opened,
            broken_shards=self.shards.broken(),
            superseded=tuple(done.trial for i in ids for done in self.done[i][:-1]),
            possibly_billed=tuple(flights.lost),
            incidents=merged_incidents(incident for _, incident in self.incidents),
            gateway=self.gateway,
            gateways=self.gateways,
            parts=tuple(part.closed() for part in self.parts),
            resumed=tuple(self.resumed),
            footer=self.footer,
            damaged_lines=damaged_lines,
            missing=missing,
            attempts=flights.attempts,
            refusals={
                trial.id: flights.refusals[trial.id]
                for trial in missing
                if trial.id in flights.refusals
            },
            turns=self.turns.of_trials(),
            recorded_turns={
                trial.id: turns
                for trial in missing
                if keeps_answers and (turns := self.turns.to_go_on_from(trial.id))
            },
            offset_ms=flights.offset_ms,
            budget_used_ms={target: union.ms() for target, union in flights.busy.items()},
            known_spend_usd=sum(part.known_usd for part in spend.values()),
            unknown_costs=sum(part.unknown_requests for part in spend.values()),
            spend=spend,
            charges=charges,
        )

    def _observed(self, record: Gateway | Vantage | Sample | ShardOpened | ShardClosed) -> None:
        """Take what was seen besides the requests."""
        match record:
            case Gateway(side=None):
                self.gateway = record
            case Gateway():
                self.gateways[str(record.side)] = record
                self.gateway = self.gateways.get("base", record)
            case Vantage():
                self.vantage = record
            case Sample():
                self.parts[-1].take(record)
            case ShardOpened() | ShardClosed():
                self.shards.take(record)

    def _border(self, record: Resumed | Footer) -> None:
        """A process went on with the journal, or ended its part of it."""
        if isinstance(record, Resumed):
            self._lose_open()
            self.resumed.append(record)
            self.parts.append(OpenPart(record.offset_ms))
        self.footer = record if isinstance(record, Footer) else None
        self.flights.reach(record.offset_ms)

    def _ended(self, record: TurnDone | TrialDone | AttemptRefused) -> None:
        """Take how a request ended."""
        match record:
            case AttemptRefused():
                self.flights.refused(record)
            case TurnDone():
                self.flights.turned(record)
                self.turns.take(record)
            case TrialDone(trial=trial):
                self.flights.finished(record)
                if trial.stage is not None:
                    self.stages.take(trial)
                else:
                    self.done[trial.id].append(_Done(self.place, record.attempt, trial))
                    self.turns.end(trial)

    def _lose_open(self) -> None:
        """What is open when its process ends was lost."""
        for start in self.flights.lose_open():
            self.stages.lose(start.trial_id)

    def _apply_incidents(self) -> None:
        """Mark trials that an incident found out later: a journal only grows."""
        for place, incident in self.incidents:
            self.stages.set_aside(incident)
            for trial_id in incident.touched_trials:
                for number, done in enumerate(self.done.get(trial_id, ())):
                    if done.place < place and done.trial.invalidated is None:
                        marked = msgspec.structs.replace(
                            done.trial, invalidated=incident.incident_class
                        )
                        self.done[trial_id][number] = _Done(done.place, done.attempt, marked)
                        self.turns.doubt(trial_id)
