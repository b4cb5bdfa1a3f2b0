"""The user's limit per day, kept by all runs of this user together.

What a day has cost is read from the journals that are kept; what runs that are going on may still
spend stands in their claims. A claim is a small file that its process holds locked: the system lets
go of the lock however the process ends, and a claim that nobody holds counts only as far as no
journal tells what really was spent. Claims are taken one after another, under one lock, so that
runs that begin at once share what is left and never promise it twice.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from bench.charges import Spend
from bench.errors import BenchError, Refused, UsageFault, reason_in
from bench.journal import read_journal
from bench.model.record import Record, Value
from bench.money import SLACK_USD
from bench.runs import Shelf, kept_journals
from bench.spending import dated_charges

_CLAIM = ".claim.json"


class Claim(Record, frozen=True, kw_only=True):
    """What one process may spend of a day."""

    run_id: str
    before_usd: float = 0.0
    """What the run had spent on that day before."""
    granted_usd: float
    spent_usd: float | None = None
    """Once it ended in order; ``None`` = it is going on, or was killed."""


class DayUse(Value, frozen=True, kw_only=True):
    """How much of a day's limit is taken."""

    spent_usd: float
    """By runs that ended; the known part."""
    claimed_usd: float
    """The most that runs may still spend that are going on, and what they have spent."""
    claims: int
    """How many those are."""

    @property
    def taken_usd(self) -> float:
        """Return both."""
        return self.spent_usd + self.claimed_usd


class DayAccount(Value, frozen=True, kw_only=True):
    """One day of one user."""

    folder: Path
    """Where claims are kept, one folder per day in it."""
    archive: Path
    """The user's folder of runs."""
    now: datetime
    """UTC."""
    limit_usd: float

    @property
    def day(self) -> datetime:
        """Return when the UTC day began."""
        return self.now.replace(hour=0, minute=0, second=0, microsecond=0)

    @contextmanager
    def claimed(self, run_id: str, *, wanted_usd: float | None) -> Iterator["OpenClaim"]:
        """Hold a part of what the day has left while a run may spend it.

        Args:
            run_id: Whose.
            wanted_usd: The most it can cost; ``None`` = nobody knows, so all that is left.

        Raises:
            Refused: Nothing is left.
            UsageFault: The claim can't be written.
        """
        held = self._taken(run_id, wanted_usd)
        try:
            yield held
        finally:
            held.close()

    def use(self) -> DayUse:
        """Return how much of the day is taken, for showing."""
        return self._use(self._spent_by_run())

    def _taken(self, run_id: str, wanted_usd: float | None) -> "OpenClaim":
        folder = self.folder / f"{self.day:%Y-%m-%d}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._forget_old_days()
            with (self.folder / "lock").open("a") as turn:
                fcntl.flock(turn, fcntl.LOCK_EX)
                spent = self._spent_by_run()
                use = self._use(spent)
                left = self.limit_usd - use.taken_usd
                if left <= SLACK_USD:
                    raise self._refusal(use)
                claim = Claim(
                    run_id=run_id,
                    before_usd=spent.get(run_id, 0.0),
                    granted_usd=left if wanted_usd is None else min(left, wanted_usd),
                )
                return _opened(folder / f"{run_id}-{os.getpid()}{_CLAIM}", claim)
        except OSError as fault:
            message = f"the day's spending can't be kept in `{folder}`: {reason_in(fault)}"
            raise UsageFault(
                message, hint="mend the folder: without it no limit can hold"
            ) from fault

    def _forget_old_days(self) -> None:
        """Remove what nobody asks for any more: a claim counts on its own day only."""
        yesterday = f"{self.day - timedelta(days=1):%Y-%m-%d}"
        for old in self.folder.iterdir():
            if old.is_dir() and old.name < yesterday:
                shutil.rmtree(old, ignore_errors=True)

    def _refusal(self, use: DayUse) -> Refused:
        runs = "a run that is" if use.claims == 1 else f"{use.claims} runs that are"
        going_on = f", and {runs} going on may take ${use.claimed_usd:.4f}" if use.claims else ""
        return Refused(
            f"`max-cost-per-day = {self.limit_usd:g}` is used up: ${use.spent_usd:.4f} were spent "
            f"today (UTC){going_on}",
            hint="wait for the end of the day (UTC), or raise the limit in your configuration",
        )

    def _spent_by_run(self) -> dict[str, float]:
        """Return what the journals tell of the day, by run id."""
        shelf = Shelf(archive=self.archive, folder=self.archive)
        spent: dict[str, float] = {}
        for path in kept_journals(shelf, since=self.day.timestamp()):
            with suppress(BenchError, OSError):  # what can't be read can't be counted
                ledger = read_journal(path)
                until = self.day + timedelta(days=1)
                charges = dated_charges(ledger, since=self.day, until=until)
                if ledger.header.config.is_paid:
                    known = Spend.of(dated.charge for dated in charges).known_usd
                    spent[ledger.header.run_id] = known
        return spent

    def _use(self, spent: dict[str, float]) -> DayUse:
        by_run = dict(spent)
        claimed, claims = 0.0, 0
        for claim, is_held in _claims(self.folder / f"{self.day:%Y-%m-%d}"):
            if is_held:
                by_run.pop(claim.run_id, None)
                claimed += claim.before_usd + claim.granted_usd
                claims += 1
            elif claim.run_id not in spent:
                amount = claim.granted_usd if claim.spent_usd is None else claim.spent_usd
                by_run[claim.run_id] = by_run.get(claim.run_id, claim.before_usd) + amount
        return DayUse(spent_usd=sum(by_run.values()), claimed_usd=claimed, claims=claims)


@dataclass(slots=True, kw_only=True)
class OpenClaim:
    """A claim that this process holds."""

    claim: Claim
    path: Path
    descriptor: int

    @property
    def granted_usd(self) -> float:
        """Return what may be spent."""
        return self.claim.granted_usd

    def settle(self, spent_usd: float) -> None:
        """Note what was really spent, for where no journal is kept."""
        self.claim = msgspec.structs.replace(self.claim, spent_usd=spent_usd)
        with suppress(OSError):  # then the whole grant counts
            _write(self.descriptor, self.claim)

    def close(self) -> None:
        """Let go of it."""
        os.close(self.descriptor)


def _opened(path: Path, claim: Claim) -> OpenClaim:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _write(descriptor, claim)
    except OSError:
        os.close(descriptor)
        raise
    return OpenClaim(claim=claim, path=path, descriptor=descriptor)


def _write(descriptor: int, claim: Claim) -> None:
    data = msgspec.json.encode(claim)
    os.pwrite(descriptor, data, 0)
    os.ftruncate(descriptor, len(data))


def _claims(folder: Path) -> Iterator[tuple[Claim, bool]]:
    """Yield each claim, and whether its process lives."""
    for path in sorted(folder.glob(f"*{_CLAIM}")):
        with suppress(OSError, msgspec.DecodeError), path.open("rb") as file:
            is_held = False
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                is_held = True
            yield msgspec.json.decode(file.read(), type=Claim), is_held
