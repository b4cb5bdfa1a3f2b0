"""An overhead run to its findings and its one sentence. Pure."""

from collections.abc import Iterator, Sequence

from bench.ledger import Ledger
from bench.model.overhead import Buffering, Claim, OverheadFindings
from bench.model.paired import Comparison, LevelResult, PairedSummary, Pairing
from bench.model.trial import Trial
from bench.overhead.amounts import number, signed
from bench.overhead.buffering import buffering
from bench.overhead.use import gateway_use
from bench.paired.differences import median
from bench.paired.summary import paired_levels

_MOST_OTHERS = 3
"""Levels besides the first that one sentence names; of more it says from where to where."""


def overhead_of(ledger: Ledger, pairing: Pairing) -> tuple[PairedSummary, OverheadFindings]:
    """Return what the gateway added, as far as the run got."""
    levels, confounds = paired_levels(ledger, pairing)
    base = _measured(ledger.trials, pairing.base.target_id)
    changed = _measured(ledger.trials, pairing.changed.target_id)
    lightest = _of_first_level(ledger, changed)
    stream = buffering(
        [trial for trial in base if trial.stage in lightest],
        [trial for trial in changed if trial.stage in lightest],
    )
    claims = tuple(_claims(ledger, pairing, changed, levels))
    findings = OverheadFindings(
        buffering=stream,
        claim=next(iter(claims), None),
        claims=claims,
        use=gateway_use(ledger.parts, ledger.stages.entries, pairing, trials=ledger.trials),
    )
    summary = PairedSummary(
        kind=pairing.kind,
        base=pairing.base.label,
        changed=pairing.changed.label,
        base_target=pairing.base.target_id,
        changed_target=pairing.changed.target_id,
        is_same=pairing.is_same,
        headline=headline(levels, stream),
        confounds=confounds,
        levels=levels,
    )
    return summary, findings


def headline(levels: Sequence[LevelResult], stream: Buffering | None) -> str:
    """Return what the gateway adds in one sentence: the first level, and whether it buffers."""
    ending = "" if stream is None else f"; {stream.text}"
    first = levels[0] if levels else None
    found = _of(first.warm if first else (), "ttft") or _of(first.warm if first else (), "total")
    if first is None or found is None or found.difference is None:
        return f"What the gateway adds was not measured: no pair of answers{ending}."
    return f"{sentence(found)} ({first.label}{_others(levels[1:], found.metric)}){ending}."


def sentence(found: Comparison) -> str:
    """Return one comparison as a clause with its interval."""
    name = {"ttft": "TTFT", "itl": "the gap between tokens", "total": "the whole answer"}.get(
        found.metric, found.metric
    )
    amount = f"{number(abs(found.difference or 0.0))} {found.unit}"
    between = "" if found.interval is None else f" [{_pair(found)}]"
    match found.verdict:
        case "higher":
            return f"Adds {amount}{between} to {name}"
        case "lower":
            return f"Takes {amount} off {name}{between}"
        case "within":
            return f"Adds nothing that shows to {name}: {signed(found.difference)} ms{between}"
        case _:
            measured = f"{signed(found.difference)} ms{between}"
            why = found.why.partition(": ")[0]  # the rest stands in the caveat
            return f"What it adds to {name} is undecided ({why}); measured {measured}"


def _pair(found: Comparison) -> str:
    low, high = found.interval or (0.0, 0.0)
    if low >= 0 and found.verdict == "higher":
        return f"{number(low)}, {number(high)}"
    return f"{signed(low)}, {signed(high)}"


def _others(levels: Sequence[LevelResult], metric: str) -> str:
    told = [
        (found.difference, level.label)
        for level in levels
        if (found := _of(level.warm, metric)) is not None and found.difference is not None
    ]
    if len(told) > _MOST_OTHERS:
        least, most = min(told)[0], max(told)[0]
        return f"; {signed(least)} to {signed(most)} ms at {len(told)} other loads"
    border = "; " if any("," in label for _, label in told) else ", "
    return "".join(f"{border}{signed(added)} ms at {label}" for added, label in told)


def _of(comparisons: Sequence[Comparison], metric: str) -> Comparison | None:
    return next((one for one in comparisons if one.metric == metric and one.pairs), None)


def _measured(trials: Sequence[Trial], target_id: str) -> list[Trial]:
    return [trial for trial in trials if trial.target_id == target_id and not trial.warmup]


def _of_first_level(ledger: Ledger, changed: Sequence[Trial]) -> set[int]:
    """Return the numbers of all stages of the first level that has an answer of the gateway.

    Under a heavier load chunks come in bursts because processors are short: that is no buffer.
    """
    places = {
        entry.stage.number: entry.stage.pair.level
        for entry in ledger.stages.entries
        if entry.stage.pair is not None
    }
    levels = [places[trial.stage] for trial in changed if trial.stage in places]
    return {number for number, level in places.items() if level == min(levels, default=0)}


def _claims(
    ledger: Ledger, pairing: Pairing, changed: Sequence[Trial], levels: Sequence[LevelResult]
) -> Iterator[Claim]:
    """Yield what the gateway says of the warm answers of each level: those that are compared."""
    level_of = {
        entry.stage.number: entry.stage.pair.level
        for entry in ledger.stages.entries
        if entry.stage.pair is not None and entry.stage.pair.phase == "warm"
        if entry.begun.target_id == pairing.changed.target_id
    }
    for level in levels:
        told = [
            trial.response.gateway_overhead_ms
            for trial in changed
            if trial.stage is not None and level_of.get(trial.stage) == level.level
            if trial.response.gateway_overhead_ms is not None and trial.response.error is None
        ]
        claimed = median(told)
        if claimed is not None:
            total = _of(level.warm, "total")
            yield Claim(
                level=level.level,
                answers=len(told),
                claimed_ms=claimed,
                measured_ms=None if total is None else total.difference,
            )
