"""What happens in one load stage while it runs, and whether it is over. No IO.

One object for all senders of a stage in one process; what it decides is decided from numbers alone.
"""

from collections import deque
from dataclasses import dataclass, field

from bench.load.saturation import Point, RisingQueue
from bench.load.sketch import Sketch
from bench.load.slo import Slo
from bench.model.load import Stage, StageEnd
from bench.model.record import Value
from bench.model.trial import NEVER_REACHED, Trial
from bench.stats import wilson

LATE_NS = 10_000_000
"""A send that comes this much after it was due is late: timers of an idle loop keep to 1 ms."""
_FEWEST_TO_FAIL = 20
_ALL_FAILED = 100
"""So many failures and no success: what is hammered on is not there."""
FEWEST_UNREACHED = 10
"""So many requests, and as many as are in flight, that found nobody: there is no endpoint."""
_JUDGE_EVERY = 10
_NS_PER_MS = 1_000_000


class Due(Value, frozen=True, kw_only=True):
    """A request that is due and has no place yet."""

    number: int
    at_ns: int


@dataclass(slots=True, kw_only=True)
class Flow:
    """The senders' common state."""

    stage: Stage
    slos: tuple[Slo, ...]
    began_ns: int
    sent: int = 0
    conversations: int = 0
    in_flight: int = 0
    late: int = 0
    dropped: int = 0
    reason: StageEnd | None = None
    """``None`` = it goes on."""
    detail: str = ""
    last_sent_ns: int | None = None
    finished: int = 0
    succeeded: int = 0
    inside: int = 0
    unreached: int = 0
    """Failed before a connection stood."""
    unreached_by: str = ""
    """Code of the last one's error."""
    tokens: int = 0
    totals: Sketch = field(default_factory=Sketch)
    waiting: deque[Due] = field(default_factory=deque)
    queue: RisingQueue = field(default_factory=RisingQueue)

    @property
    def is_over(self) -> bool:
        """Nothing more is sent."""
        return self.reason is not None

    def end(self, reason: StageEnd, detail: str = "") -> None:
        """Send nothing more; the first reason stands. Who waits for a place is dropped."""
        if self.reason is None:
            self.reason, self.detail = reason, detail
            self.dropped += len(self.waiting)
            self.waiting.clear()

    def check_time(self, now_ns: int) -> None:
        """End the stage if its time is up."""
        duration_ms = self.stage.duration_ms
        if duration_ms is not None and now_ns - self.began_ns >= duration_ms * _NS_PER_MS:
            self.end("duration")

    def may_send(self, now_ns: int) -> bool:
        """Say whether one more request may go that no clock asks for, and count it if so."""
        most = self.stage.requests
        self.check_time(now_ns)
        if self.stage.kind == "closed" and most is not None and self.sent >= most:
            self.end("requests")
        if self.is_over:
            return False
        self.sent += 1
        return True

    def refused(self) -> None:
        """Take back a request that was not sent after all."""
        self.sent -= 1

    def has_room(self) -> bool:
        """Say whether one more may be in flight."""
        most = self.stage.concurrency
        return most is None or self.in_flight < most

    def landed(self, trial: Trial) -> None:
        """Take the end of a request, and end the stage if a rule says so."""
        if trial.outcome == "cancelled" or trial.invalidated is not None:
            return
        self.finished += 1
        timing, usage = trial.response.timing, trial.response.usage
        error = trial.response.error
        if error is not None and error.code in NEVER_REACHED:
            self.unreached, self.unreached_by = self.unreached + 1, error.code
        if error is None:
            self.succeeded += 1
            if timing.total_ms is not None:
                self.totals.add(timing.total_ms)
        self.inside += all(slo.is_kept(trial) for slo in self.slos)
        self.tokens += (usage.completion_tokens or 0) if usage else 0
        if timing.first_token_ms is not None:
            self.queue.add(trial.started_offset_ms, self.in_flight, timing.first_token_ms)
        self.apply_rules()

    def point(self, level: float) -> Point:
        """Return what decides whether this load was too much."""
        return Point(
            level=level,
            total_p50_ms=self.totals.percentile(0.5),
            success_rate=self.succeeded / self.finished if self.finished else None,
            attainment=self.inside / self.finished if self.finished and self.slos else None,
        )

    def apply_rules(self) -> None:
        """End the stage if a rule says so."""
        rules = self.stage.stops
        failed = self.finished - self.succeeded
        if self.unreached == self.finished >= max(FEWEST_UNREACHED, self.in_flight):
            self.end("errors", unreached_words(self.unreached, self.unreached_by))
        if failed == self.finished >= _ALL_FAILED:
            self.end("errors", f"every one of the first {failed} requests failed")
        if rules.error_share is not None and self.finished >= _FEWEST_TO_FAIL:
            surely = wilson(failed, self.finished)
            if surely is not None and surely[0] > rules.error_share:
                detail = f"{failed} of {self.finished} requests failed"
                self.end("errors", detail)
        if rules.tokens is not None and self.tokens >= rules.tokens:
            self.end("tokens", f"{self.tokens:,} completion tokens")
        if rules.on_saturation and self.stage.kind != "closed":
            verdict = None if self.finished % _JUDGE_EVERY else self.queue.verdict()
            if verdict is not None:
                self.end("saturated", verdict)


def unreached_words(count: int, code: str) -> str:
    """Return why nothing more is sent to an endpoint that is not there."""
    return f"none of the first {count} requests found anybody there: {code}"
