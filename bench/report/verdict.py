"""The answers a reader wants first: is it whole, can it be trusted, who leads and is that decided."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.model.document import Completeness, Document
from bench.model.summary import Interval, TargetSummary
from bench.report.escaping import fit
from bench.report.figures import ms, percent, usd
from bench.report.gates import gate_words
from bench.report.solved import agent_of
from bench.summary.performance import headline_block
from bench.summary.reliability import commonest_failure

FEWEST_FOR_MEDIAN_INTERVAL = 6
LONGEST_NAME = 48
"""Columns that a target's name takes in a sentence; tables have the whole."""
_NAMED_TARGETS = 4
_NO_ANSWER = "NO ANSWER"
_LABELS = {
    "client_saturated": "client too busy",
    "client_rates": "rates limited by the client",
    "client_bound": "client too busy",
    "client_limit": "a limit of this machine",
    "not_comparable": "not comparable",
    "not_pinned": "not only the pinned target answered",
    "provider_down": "provider down",
    "no_success": "a target without any success",
    "request_error": "an outage of unknown cause",
    "headline_cold": "cold connections",
    "headline_promptCached": "provider's prompt cache",
    "overlap": "performance trials overlapped",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Who leads by one figure."""

    title: str
    """``Fastest``, ``Best answers``, ``Best at coding``, ``Cheapest``, ``Most reliable``."""
    leader: str
    """Target id."""
    figure: str
    next: str
    """The runner-up and its figure; empty for a tie."""
    why: str
    """What decides the difference, or what keeps it open."""
    is_decided: bool

    @property
    def detail(self) -> str:
        """Return runner-up and decision as one phrase."""
        decision = "decided" if self.is_decided else "not decided"
        return f"{self.next}; {decision}: {self.why}" if self.next else self.why


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    target_id: str
    value: float
    interval: Interval | None
    count: int
    lower_is_better: bool = True
    condition: str | None = None
    """How it was measured; figures under different conditions are not compared."""


def headline(document: Document) -> str:
    """Return one line: what a comparison found, complete or not, trust, planned and done."""
    done = document.completeness
    flags = ["SIMULATED"] if document.simulated else []
    flags += [incident.incident_class for incident in document.incidents]
    flags += [
        _LABELS[caveat.code]
        for caveat in document.trust
        if caveat.code in _LABELS and caveat.level != "note"
    ]
    status = ", ".join(dict.fromkeys([_told_status(document), *flags]))
    measured = f"{done.done} trials" if done.planned is None else f"{_of(done)} trials"
    failed = f", {done.failed} failed" if done.failed else ""
    billed = len(document.possibly_billed)
    lost = f", {billed} possibly billed without an answer" if billed else ""
    lost = f", {done.in_flight} in flight{lost}" if done.in_flight else lost
    paired = document.summary.paired
    asked = f"{paired.headline} " if paired else ""
    asked = f"{gate_words(document.summary.gates)}{asked}"
    return f"{asked}{status}: {measured} measured{_per_target(done)}{failed}{lost}"


def standings(document: Document) -> tuple[Standing, ...]:
    """Return the leader by each figure that at least two targets have; arms in turn race nobody."""
    if document.summary.paired is not None:
        return ()
    targets = document.summary.targets
    found = (
        _standing("Fastest", _speed(targets), "TTFT {}", _in_ms),
        _standing("Best answers", _score(targets), "score {}", percent),
        _standing("Best at coding", _solved(targets), "solved {}", percent),
        _standing("Cheapest", _cost(targets), "{} per right answer", usd),
        _standing("Most reliable", _success(targets), "{} of requests succeeded", percent),
    )
    return tuple(standing for standing in found if standing is not None)


def trust_level(document: Document) -> Literal["broken", "doubtful", "sound"]:
    """Return the worst level among the caveats."""
    levels = {caveat.level for caveat in document.trust}
    if "broken" in levels:
        return "broken"
    return "doubtful" if "doubtful" in levels else "sound"


def _told_status(document: Document) -> str:
    """Return whether the run is whole; where nothing answered, with what was said instead."""
    status = _status(document.completeness)
    said = commonest_failure(document.trials) if status == _NO_ANSWER else None
    return f"{status} ({said})" if said else status


def _status(done: Completeness) -> str:
    if done.in_flight is not None:
        return "STILL RUNNING"
    if done.is_complete is None:
        return "Plan unknown"
    if done.is_complete and done.done and done.failed == done.done:
        return _NO_ANSWER
    return "Complete" if done.is_complete else "INCOMPLETE"


def _of(done: Completeness) -> str:
    return f"{done.done} of {done.planned}"


def _per_target(done: Completeness) -> str:
    if len(done.targets) < 2:  # noqa: PLR2004 -- the total already says it
        return ""
    parts = [
        f"{fit(part.target_id, LONGEST_NAME)} {part.done}"
        + (f"/{part.planned}" if part.planned is not None else "")
        for part in done.targets[:_NAMED_TARGETS]
    ]
    more = len(done.targets) - _NAMED_TARGETS
    rest = f", {more} more targets" if more > 0 else ""
    return f" ({', '.join(parts)}{rest})"


def _speed(targets: Sequence[TargetSummary]) -> list[_Entry]:
    entries = []
    for target in targets:
        ttft = headline_block(target.performance).ttft_ms
        if ttft is not None:
            entries.append(
                _Entry(
                    target_id=target.target_id,
                    value=ttft.p50,
                    interval=ttft.p50_interval,
                    count=ttft.count,
                    condition=target.performance.headline,
                )
            )
    return entries


def _score(targets: Sequence[TargetSummary]) -> list[_Entry]:
    return [
        _Entry(
            target_id=target.target_id,
            value=target.quality.score,
            interval=target.quality.score_interval,
            count=target.quality.attempted,
            lower_is_better=False,
        )
        for target in targets
        if target.quality.score is not None
    ]


def _solved(targets: Sequence[TargetSummary]) -> list[_Entry]:
    found = [(target.target_id, agent_of(target)) for target in targets]
    return [
        _Entry(
            target_id=target_id,
            value=agent.solve_rate,
            interval=agent.solve_rate_interval,
            count=agent.scored,
            lower_is_better=False,
        )
        for target_id, agent in found
        if agent is not None and agent.solve_rate is not None
    ]


def _success(targets: Sequence[TargetSummary]) -> list[_Entry]:
    return [
        _Entry(
            target_id=target.target_id,
            value=target.reliability.success.rate,
            interval=target.reliability.success.interval,
            count=target.reliability.success.of,
            lower_is_better=False,
        )
        for target in targets
        if target.reliability.success is not None and target.reliability.success.rate is not None
    ]


def _cost(targets: Sequence[TargetSummary]) -> list[_Entry]:
    return [
        _Entry(
            target_id=target.target_id,
            value=target.efficiency.quality_cost_per_correct_usd,
            interval=None,
            count=target.quality.passed,
        )
        for target in targets
        if target.efficiency.quality_cost_per_correct_usd is not None
    ]


def _standing(
    title: str, entries: list[_Entry], words: str, show: Callable[[float], str]
) -> Standing | None:
    if len(entries) < 2:  # noqa: PLR2004 -- nobody leads alone
        return None
    sign = 1 if entries[0].lower_is_better else -1
    first, second = sorted(entries, key=lambda entry: sign * entry.value)[:2]
    if first.value == second.value:
        is_everyone = all(entry.value == first.value for entry in entries)
        return Standing(
            title=title,
            leader="no difference" if is_everyone else _tied(entries, first.value),
            figure=words.format(show(first.value)),
            next="",
            why=f"all {len(entries)} targets are equal" if is_everyone else "a tie",
            is_decided=False,
        )
    why, is_decided = _decision(title, first, second)
    return Standing(
        title=title,
        leader=fit(first.target_id, LONGEST_NAME),
        figure=words.format(show(first.value)),
        next=f"next is {fit(second.target_id, LONGEST_NAME)} with {show(second.value)}",
        why=why,
        is_decided=is_decided,
    )


def _in_ms(value: float) -> str:
    return f"{ms(value)} ms"


def _tied(entries: Sequence[_Entry], value: float) -> str:
    equal = [entry.target_id for entry in entries if entry.value == value]
    shown = ", ".join(fit(name, LONGEST_NAME) for name in equal[:2])
    return shown if len(equal) <= 2 else f"{shown} and {len(equal) - 2} more"  # noqa: PLR2004


def _decision(title: str, first: _Entry, second: _Entry) -> tuple[str, bool]:
    """Say whether the 95% intervals of two figures lie apart."""
    if title == "Cheapest":
        words = f"costs of {first.count} and {second.count} right answers, without an interval"
        return words, False
    if first.condition != second.condition:
        pair = f"{first.condition} connections against {second.condition} ones"
        return f"{pair} can't be compared", False
    if first.interval is None or second.interval is None:
        return (
            f"{first.count} and {second.count} trials are too few, "
            f"an interval needs {FEWEST_FOR_MEDIAN_INTERVAL}"
        ), False
    apart = first.interval[1] < second.interval[0] or first.interval[0] > second.interval[1]
    if apart:
        return "the 95% intervals lie apart", True
    return "the 95% intervals overlap", False
