"""What several load processes' shares of one stage come to together. No IO."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bench.load.slo import Slo
from bench.model.fleet import Ended, Progress, Sums
from bench.model.load import ClientReading, Stage
from bench.runner.flow import Flow

_SLICES_EACH = 2
"""Into so many slices for each process what is left is dealt."""
_MOST_SLICES = 16
"""For each process; the last ones are no smaller than that."""


@dataclass(slots=True, kw_only=True)
class Gathering:
    """The merged state of one stage."""

    flow: Flow
    """Of the whole stage; its rules are applied to the sums."""
    sums: dict[int, Sums] = field(default_factory=dict)
    """By load process: the last that was heard of it."""
    ended: dict[int, Ended] = field(default_factory=dict)

    @classmethod
    def of(cls, stage: Stage, slos: tuple[Slo, ...], *, began_ns: int) -> "Gathering":
        """Return one in which nothing has been heard."""
        return cls(flow=Flow(stage=stage, slos=slos, began_ns=began_ns))

    def progressed(self, number: int, progress: Progress) -> None:
        """Take how far a share is, and end the stage if a rule says so of all of them."""
        self._add(number, progress.sums)
        for one in sorted(progress.arrived, key=lambda each: each.started_ms):
            self.flow.queue.add(one.started_ms, one.in_flight, one.first_token_ms)
        self.flow.apply_rules()

    def finished(self, number: int, ended: Ended) -> None:
        """Take the end of a share."""
        self._add(number, ended.sums)
        self.ended[number] = ended
        self.flow.totals.merge(ended.totals)

    def conclude(self) -> None:
        """Give the whole stage the reason for which its shares ended, unless it has one."""
        flow = self.flow
        for ended in self.ended.values():
            if ended.reason not in {"requests", "duration", "trace"}:
                flow.end(ended.reason, ended.detail)
        for ended in self.ended.values():
            flow.end(ended.reason, ended.detail)
        flow.end("stopped")
        # Those who waited for a place are counted by the shares.
        self._add_all()

    @property
    def spent_usd(self) -> float:
        """Known spend of all shares."""
        return sum(sums.spent_usd for sums in self.sums.values())

    @property
    def unknown_costs(self) -> int:
        """Answers whose cost nobody knows."""
        return sum(sums.unknown_costs for sums in self.sums.values())

    def spent_by(self, number: int) -> float:
        """Return the known spend of one share, as far as it was heard of."""
        sums = self.sums.get(number)
        return 0.0 if sums is None else sums.spent_usd

    def sent_by(self, number: int) -> int:
        """Return how many requests of one share were sent, as far as it was heard of."""
        sums = self.sums.get(number)
        return 0 if sums is None else sums.sent

    def _add(self, number: int, sums: Sums) -> None:
        self.sums[number] = sums
        self._add_all()

    def _add_all(self) -> None:
        flow, parts = self.flow, self.sums.values()
        flow.sent = sum(part.sent for part in parts)
        flow.finished = sum(part.finished for part in parts)
        flow.succeeded = sum(part.succeeded for part in parts)
        flow.inside = sum(part.inside for part in parts)
        flow.unreached = sum(part.unreached for part in parts)
        flow.unreached_by = next((p.unreached_by for p in parts if p.unreached_by), "")
        flow.tokens = sum(part.tokens for part in parts)
        flow.in_flight = sum(part.in_flight for part in parts)
        flow.late = sum(part.late for part in parts)
        flow.dropped = sum(part.dropped for part in parts)


@dataclass(slots=True, kw_only=True)
class Dealer:
    """Deals a run's money in slices, so that all of them together never pass what is left."""

    left_usd: float | None
    """At the stage's beginning; ``None`` = no limit."""
    slices: dict[int, float] = field(default_factory=dict)

    def first(self, numbers: Iterable[int]) -> Mapping[int, float] | None:
        """Deal everyone an equal first slice; ``None`` = there is no limit."""
        listed = list(numbers)
        if self.left_usd is None:
            return None
        each = max(0.0, self.left_usd) / (_SLICES_EACH * len(listed))
        self.slices = dict.fromkeys(listed, each)
        return self.slices

    def more(self, number: int, least_usd: float) -> tuple[float, bool]:
        """Return the slice of who asks, topped up, and whether there is no more after it.

        Args:
            number: Who asks.
            least_usd: What it needs for its next request.
        """
        free = max(0.0, (self.left_usd or 0.0) - sum(self.slices.values()))
        # Not ever smaller parts: in the end each request would ask.
        smallest = (self.left_usd or 0.0) / (_MOST_SLICES * len(self.slices))
        part = max(least_usd, smallest, free / (_SLICES_EACH * len(self.slices)))
        self.slices[number] += min(free, part)
        return self.slices[number], free <= part


def worst_reading(readings: Iterable[ClientReading]) -> ClientReading:
    """Return the worst of each figure of several clients, and the sum of what is counted."""
    listed = list(readings)
    if not listed:
        return ClientReading()
    stamps = {one.stamps for one in listed if one.stamps is not None}

    def most(name: str) -> float | None:
        return max((v for one in listed if (v := getattr(one, name)) is not None), default=None)

    return ClientReading(
        stamps=None if not stamps else stamps.pop() if len(stamps) == 1 else "mixed",
        reads=sum(one.reads for one in listed),
        receive_lag_p50_ms=most("receive_lag_p50_ms"),
        receive_lag_p99_ms=most("receive_lag_p99_ms"),
        receive_lag_max_ms=most("receive_lag_max_ms"),
        stamps_discarded=sum(one.stamps_discarded for one in listed),
        loop_lag_p99_ms=most("loop_lag_p99_ms"),
        loop_lag_max_ms=most("loop_lag_max_ms"),
        utilisation_mean=most("utilisation_mean"),
        utilisation_max=most("utilisation_max"),
        gc_pause_max_ms=most("gc_pause_max_ms"),
        connections_opened=sum(one.connections_opened for one in listed),
        requests=sum(one.requests for one in listed),
        load_average=most("load_average"),
        processors=listed[0].processors,
    )
