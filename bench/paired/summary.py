"""The pairs of a run to its summary: level by level, warm and cold, each figure judged. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.ledger import Ledger
from bench.load.columns import VALID, WARM
from bench.model.paired import Comparison, Confound, LevelResult, Pairing, PairLevel, PairPhase
from bench.paired.blocks import Block, Figure, Pairs, find_pairs
from bench.paired.comparability import seen_confounds, spoiled, work_of
from bench.paired.comparing import Rules, compare
from bench.stats import CONFIDENCE, summarize_numbers
from bench.summary.client_rules import (
    EVERY,
    ClientLimit,
    Seen,
    client_limits,
    figures,
)

FIGURES = (Figure(metric="ttft"), Figure(metric="itl"), Figure(metric="total"))
_MOST_BOUND = 0.2
"""Share of blocks in which the client may have made a figure before that figure counts as its own."""
_KB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What is compared, and how sure it has to be."""

    figures: tuple[Figure, ...] = FIGURES
    confidence: float = CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientBound:
    """What of a level this client may have made."""

    why: tuple[str, ...] = ()
    """In words, with the figures; empty = nothing."""
    spoils: tuple[str, ...] = ()
    """These figures."""


def paired_levels(
    ledger: Ledger,
    pairing: Pairing,
    judging: Judging = Judging(),
) -> tuple[tuple[LevelResult, ...], tuple[Confound, ...]]:
    """Return the levels of a run of two arms, and every confound.

    Args:
        ledger: Of the run, whole or not: what was measured so far is compared.
        pairing: Of its configuration.
        judging: Which figures, at which confidence.
    """
    borders = [record.offset_ms for record in ledger.resumed]
    found = {
        (pairs.level, pairs.phase): pairs
        for pairs in find_pairs(ledger.stages.entries, borders=borders)
    }
    base, changed = (
        work_of(trial for trial in ledger.trials if trial.target_id == arm.target_id)
        for arm in (pairing.base, pairing.changed)
    )
    confounds = (
        *pairing.confounds,
        *seen_confounds(pairing.base, pairing.changed, (base, changed)),
    )
    context = _Context(
        judging=judging, confounds=confounds, seed=ledger.header.config.seed, found=found
    )
    results = tuple(
        _level(number, level, context)
        for number, level in enumerate(pairing.levels)
        if any(key[0] == number for key in found)
    )
    return results, confounds


def level_label(level: PairLevel) -> str:
    """Return a level for people: ``1 at a time``, ``8 at once, prompts of 16 KB``."""
    load = "1 at a time" if level.concurrency == 1 else f"{level.concurrency} at once"
    if level.prompt_bytes is None:
        return load
    size = level.prompt_bytes
    text = f"{size / _KB:g} KB" if size >= _KB else f"{size} bytes"
    return f"{load}, prompts of {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    judging: Judging
    confounds: tuple[Confound, ...]
    seed: int
    found: dict[tuple[int, PairPhase], Pairs]


def _level(number: int, level: PairLevel, context: _Context) -> LevelResult:
    noise, warm, cold = (context.found.get((number, phase)) for phase in ("noise", "warm", "cold"))
    measured = [pairs for pairs in (warm, cold) if pairs is not None]
    bound = client_bound([*_blocks([noise] if noise else []), *_blocks(measured)])
    base = [pair.base for pairs in measured for pair in pairs.whole]
    changed = [pair.changed for pairs in measured for pair in pairs.whole]
    return LevelResult(
        level=number,
        label=level_label(level),
        concurrency=level.concurrency,
        prompt_bytes=level.prompt_bytes,
        requests=sum(block.counted for block in (*base, *changed)),
        failed_base=sum(block.counted - block.succeeded for block in base),
        failed_changed=sum(block.counted - block.succeeded for block in changed),
        dropped_pairs=sum(pairs.dropped for pairs in measured),
        client_bound=bound.why,
        client_spoils=bound.spoils,
        warm=_compared(warm, noise, bound, context),
        cold=_compared(cold, None, bound, context),
    )


def _compared(
    pairs: Pairs | None, noise: Pairs | None, bound: ClientBound, context: _Context
) -> tuple[Comparison, ...]:
    if pairs is None:
        return ()
    results = []
    for figure in context.judging.figures:
        why = spoiled(context.confounds, figure.name)
        if not why and figure.metric in bound.spoils:
            why = f"this client may be what was measured: {bound.why[0]}"
        rules = Rules(seed=context.seed, confidence=context.judging.confidence, undecided=why)
        results.append(compare(figure, pairs, noise, rules))
    return tuple(results)


def _blocks(phases: Iterable[Pairs]) -> list[Block]:
    return [
        block for pairs in phases for pair in pairs.whole for block in (pair.base, pair.changed)
    ]


def client_bound(blocks: Sequence[Block]) -> ClientBound:
    """Return the figures that this client may have made in more than a few blocks, and why."""
    limited = [_limits(block) for block in blocks]
    counts = {one: sum(_reaches(limits, one) for limits in limited) for one in EVERY}
    spoils = tuple(one for one, count in counts.items() if count > _MOST_BOUND * len(blocks))
    if not spoils:
        return ClientBound()
    count = max(counts[one] for one in spoils)
    example = next(
        limit.why for limits in limited for limit in limits if set(limit.spoils) & set(spoils)
    )
    why = f"in {count} of {len(blocks)} blocks, e.g. {example}, which spoils {figures(spoils)}"
    return ClientBound(why=(why,), spoils=spoils)


def _reaches(limits: Sequence[ClientLimit], quantity: str) -> bool:
    return any(quantity in limit.spoils for limit in limits)


def _limits(block: Block) -> tuple[ClientLimit, ...]:
    done, columns = block.entry.done, block.entry.columns
    if done is None:
        return ()
    seen = Seen(
        is_median=True,
        ttft=summarize_numbers(block.values("ttft")),
        total=summarize_numbers(block.values("total")),
        itl=columns.gaps.summary(),
        send_lag=summarize_numbers(columns.sent_ms[row] for row in columns.rows(VALID | WARM)),
    )
    return client_limits(done, block.entry.stage, seen)
