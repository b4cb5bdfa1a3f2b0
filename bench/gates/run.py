"""Every limit of a run against every target, at the load that decides."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.gates.deciding import Reading, judge
from bench.gates.readings import stage_reading, target_reading
from bench.load.gates import Gate
from bench.model.document import Completeness, TargetCompleteness
from bench.model.gates import GateResult
from bench.model.summary import SeriesSummary, StageSummary, Summary, TargetSummary
from bench.model.trial import Trial
from bench.stage_book import StageEntry

CLIENT_BOUND = "this client may be what was measured"
"""Its figures stand in the caveat that says so."""
_OF_THE_TARGET = frozenset({"score", "cost"})
"""Figures of a whole run: no load stage has one of its own."""
_BEST_DECIDES = frozenset({"rate", "goodput"})
"""Of several loads the best one is meant: few requests in flight can't give many answers."""
_ORDER = {"failed": 0, "undecided": 1, "passed": 2}

_Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Why some figures of a whole run decide nothing."""

    why: str
    spoils: frozenset[str]
    """The figures, by the names of gates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateEvidence:
    """What limits over a run are held against."""

    summary: Summary
    completeness: Completeness
    trials: Mapping[str, Sequence[Trial]] = field(default_factory=dict)
    """By target id: counted ones of performance cases."""
    stages: Sequence[StageEntry] = ()
    sweeps: frozenset[tuple[str, str]] = frozenset()
    """Target and case of each series that looked for the saturation point."""
    doubts: Sequence[Doubt] = ()
    """About the whole run: a client that lagged, a build that changed."""


def run_gates(gates: Iterable[Gate], evidence: GateEvidence) -> tuple[GateResult, ...]:
    """Return how each limit came out, target by target."""
    return tuple(
        result
        for gate in gates
        for target in evidence.summary.targets
        for result in _of_target(gate, target, evidence)
    )


def _of_target(gate: Gate, target: TargetSummary, evidence: GateEvidence) -> list[GateResult]:
    gone = _gone(gate, target, evidence.completeness)
    series = [one for one in evidence.summary.load_series if one.target_id == target.target_id]
    if gate.quantity in _OF_THE_TARGET or not series:
        trials = evidence.trials.get(target.target_id, ())
        reading = target_reading(gate, target, trials)
        return [judge(gate, replace(reading, spoiled=gone or _doubt(gate, evidence)))]
    return [
        _of_series(gate, one, evidence, gone=gone, names_case=len(series) > 1) for one in series
    ]


def _gone(gate: Gate, target: TargetSummary, completeness: Completeness) -> str:
    """Say why what there is of a target may not be what was asked for; empty = it is all there."""
    own = {part.target_id: part for part in completeness.targets}.get(target.target_id)
    if own is None or own.planned is None:
        return ""
    missing = own.planned - own.done
    if missing <= 0 or _has_cost_for_sure(gate, target):
        return ""
    return f"{own.done:,} of {own.planned:,} planned requests count{_why_missing(own)}"


def _why_missing(own: TargetCompleteness) -> str:
    parts = {
        "set aside": own.invalidated,
        "cancelled": own.cancelled,
        "without a recorded end": own.lost,
        "never sent": own.not_run,
    }
    told = [f"{count:,} {words}" for words, count in parts.items() if count]
    return f": {', '.join(told)}" if told else ""


def _has_cost_for_sure(gate: Gate, target: TargetSummary) -> bool:
    """Money that was spent stays spent, whatever else is missing."""
    return gate.quantity == "cost" and target.efficiency.known_spend_usd > gate.bound


def _of_series(
    gate: Gate, series: SeriesSummary, evidence: GateEvidence, *, gone: str, names_case: bool
) -> GateResult:
    """Return how a limit came out at the load that decides."""
    entries: dict[_Key, StageEntry] = {
        (one.begun.target_id, one.begun.case_id, one.stage.number): one for one in evidence.stages
    }
    judged = []
    for stage in _meant(series, evidence):
        entry = entries[series.target_id, series.case_id, stage.number]
        reading = stage_reading(gate, stage, entry)
        spoiled = gone or _spoiled(gate, stage, entry) or _doubt(gate, evidence)
        label = f"{series.case_id}: {reading.label}" if names_case else reading.label
        judged.append(judge(gate, replace(reading, spoiled=spoiled, label=label)))
    if not judged:
        nothing = Reading(
            target_id=series.target_id, value=None, interval=None, count=0, counted="requests"
        )
        return judge(gate, replace(nothing, spoiled=gone))
    return _deciding(gate, judged)


def _meant(series: SeriesSummary, evidence: GateEvidence) -> list[StageSummary]:
    """Return the stages that a gate is about: not those at which a sweep found it too much."""
    begun = [stage for stage in series.stages if stage.reason != "skipped"]
    if (series.target_id, series.case_id) not in evidence.sweeps:
        return begun
    good = [stage for stage in begun if not stage.saturated]
    return good or begun[:1]


def _spoiled(gate: Gate, stage: StageSummary, entry: StageEntry) -> str:
    if not entry.is_finished:
        return "the stage did not come to its end"
    return CLIENT_BOUND if gate.quantity in stage.client_spoils else ""


def _doubt(gate: Gate, evidence: GateEvidence) -> str:
    """Say why no run like this one decides a gate; empty = it may."""
    return next((one.why for one in evidence.doubts if gate.quantity in one.spoils), "")


def _deciding(gate: Gate, judged: Sequence[GateResult]) -> GateResult:
    """Return the worst stage; of a rate the best one."""
    is_best = gate.quantity in _BEST_DECIDES
    sign = -1.0 if is_best else 1.0
    worse = -1.0 if gate.fails_above else 1.0

    def place(result: GateResult) -> tuple[float, float]:
        value = 0.0 if result.value is None else result.value
        return sign * _ORDER[result.verdict], sign * worse * value

    return min(judged, key=place)


def by_target(trials: Iterable[Trial]) -> Mapping[str, Sequence[Trial]]:
    """Group trials by what they were sent to."""
    grouped: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        grouped[trial.target_id].append(trial)
    return grouped
