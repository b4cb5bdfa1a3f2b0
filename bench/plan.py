"""Which trials a run consists of, and in which order. Pure: the same arguments give the same plan.

Rounds: round N holds the N-th run of every case, quality before performance. A budget that cuts
the run thus leaves every case measured equally often, and the samples of a case are spread over
the run's whole time. A case that keeps a load up is asked whole in its first round, where targets
take turns in few large blocks: a load of 16 is a state to be held, not 64 rounds. Inside a round the targets take turns in an order drawn per case and turned
round in every second round, so that no target is always the first or always the last.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from bench.load.shapes import planned_requests
from bench.model.blocks import Block, PlannedTrial
from bench.model.case import CaseInfo
from bench.model.load import Stage, Sweep
from bench.model.target import Target
from bench.seeds import SeededStream, derive_seed

_MOST_TOLD = 2_000
_SWEEP_STAGES = 16
_LOADED_BLOCK_FACTOR = 4
"""Trials of a concurrent block per request in flight: filling and draining stay the small part."""


def build_plan(
    targets: Sequence[Target],
    cases: Sequence[CaseInfo],
    *,
    seed: int,
    runs: int | None = None,
    warmup: int | None = None,
    overlap: bool = False,
) -> tuple[Block, ...]:
    """Return the blocks of a run in the order in which they are to be run.

    Args:
        targets: What is measured; ids unique.
        cases: What is asked; ids unique. Their order is kept inside a round.
        seed: Base seed of the run; draws the instances and the order of the targets.
        runs: Measured runs of every case, at least 1; ``None`` keeps each case's own number.
        warmup: Warm-up runs of every case, at least 0; ``None`` keeps each case's own number.
        overlap: Let performance blocks run beside others; they are then not ``alone``.
    """
    asked = sorted(cases, key=lambda case: case.kind == "performance")
    queues = [
        _rounds_of_case(targets, case, seed=seed, runs=runs, warmup=warmup, overlap=overlap)
        for case in asked
    ]
    depth = max((len(queue) for queue in queues), default=0)
    return tuple(
        block
        for index in range(depth)
        for queue in queues
        if index < len(queue)
        for block in queue[index]
    )


def build_load_plan(
    targets: Sequence[Target],
    cases: Sequence[CaseInfo],
    load: tuple[Stage, ...] | Sweep,
    *,
    seed: int,
) -> tuple[Block, ...]:
    """Return the blocks of a run under load: stage by stage the targets take turns.

    Args:
        targets: What is measured; ids unique.
        cases: What is asked; ids unique.
        load: The stages in their order, or the sweep that each target goes through on its own.
        seed: Draws the order of the targets.
    """
    blocks = []
    for case in cases:
        order = SeededStream(seed, label=f"target order: {case.id}").shuffled(targets)
        if isinstance(load, Sweep):
            blocks += [_load_block(target, case, sweep=load) for target in order]
            continue
        for index, stage in enumerate(load):
            turn = order if index % 2 == 0 else order[::-1]
            blocks += [_load_block(target, case, stage=stage) for target in turn]
    return tuple(blocks)


def _load_block(
    target: Target, case: CaseInfo, *, stage: Stage | None = None, sweep: Sweep | None = None
) -> Block:
    return Block(
        target_id=target.id,
        case_id=case.id,
        alone=True,
        concurrency=(stage.concurrency if stage else None) or 1,
        trials=(),
        stage=stage,
        sweep=sweep,
    )


def staged_trial(
    target_id: str, case: CaseInfo, stage: int, number: int, *, seed: int, warmup: bool
) -> PlannedTrial:
    """Return one trial of a load stage.

    Other stages ask other instances: a provider's prompt cache would make the later ones faster.

    Args:
        target_id: Whom.
        case: What.
        stage: Number of the stage.
        number: Of the trial, from 1; warm-ups are counted apart.
        seed: Of the run.
        warmup: Whether it is one.
    """
    return PlannedTrial(
        id=f"{target_id}|{case.id}|s{stage}{'w' if warmup else 'r'}{number}",
        target_id=target_id,
        case_id=case.id,
        run=number,
        warmup=warmup,
        seed=derive_seed(seed, stage_group(case, stage), number, warmup),
        stage=stage,
    )


def stage_group(case: CaseInfo, stage: int) -> str:
    """Return what seeds of a stage are derived from."""
    return f"{case.seed_group or case.id}|stage {stage}"


def first_staged(block: Block, case: CaseInfo, *, seed: int) -> Iterator[PlannedTrial]:
    """Yield the first trials of a load block's stages, as far as a simulator is told the answers."""
    stages = (
        range(1, _SWEEP_STAGES + 1) if block.sweep else [block.stage.number] if block.stage else []
    )
    most = _MOST_TOLD // max(1, len(stages))
    # A comparison in pairs has hundreds of blocks of one request each.
    planned = planned_requests(block.stage) if block.stage is not None else None
    counts = (
        (False, most if planned is None else min(most, planned)),
        (True, most if block.stage is None else min(most, block.stage.warmups)),
    )
    for stage in stages:
        for warmup, count in counts:
            for number in range(1, count + 1):
                yield staged_trial(block.target_id, case, stage, number, seed=seed, warmup=warmup)


def planned_in(blocks: Iterable[Block]) -> int | None:
    """Return how many trials the blocks hold, warm-ups included; ``None`` = time decides."""
    total = 0
    for block in blocks:
        counted = planned_requests(block.stage) if block.stage is not None else 0
        if counted is None or block.sweep is not None:
            return None
        total += len(block.trials) + counted + (block.stage.warmups if block.stage else 0)
    return total


def plan_hash(plan: Iterable[Block], cases: Iterable[CaseInfo], targets: Iterable[Target]) -> str:
    """Return the SHA-256 (hex) of what is asked of whom in which order.

    Two runs with the same hash send the same prompts to the same models in the same order.
    Fields that a later version adds to the records do not change it.
    """
    digest = hashlib.sha256()
    for line in _identity_lines(plan, cases, targets):
        digest.update(line.encode())
        digest.update(b"\n")
    return digest.hexdigest()


def trial_id(target_id: str, case_id: str, run: int, *, warmup: bool) -> str:
    """Return ``TARGET|CASE|r1``, for a warm-up ``TARGET|CASE|w1``."""
    return f"{target_id}|{case_id}|{'w' if warmup else 'r'}{run}"


def _rounds_of_case(
    targets: Sequence[Target],
    case: CaseInfo,
    *,
    seed: int,
    runs: int | None,
    warmup: int | None,
    overlap: bool,
) -> list[list[Block]]:
    """Return the blocks of one case: one list per round, in it one block per target."""
    measured = range(1, (case.runs if runs is None else runs) + 1)
    warmups = range(1, (case.warmup_runs if warmup is None else warmup) + 1)
    order = SeededStream(seed, label=f"target order: {case.id}").shuffled(targets)
    rounds = []
    for index, numbers in enumerate(_slices(measured, _block_size(case, len(targets)))):
        turn = order if index % 2 == 0 else order[::-1]
        rounds.append(
            [
                Block(
                    target_id=target.id,
                    case_id=case.id,
                    alone=case.kind == "performance" and not overlap,
                    concurrency=case.concurrency,
                    trials=(
                        *_trials(target, case, warmups if index == 0 else (), seed, warmup=True),
                        *_trials(target, case, numbers, seed, warmup=False),
                    ),
                )
                for target in turn
            ]
        )
    return rounds


def _trials(
    target: Target, case: CaseInfo, numbers: Iterable[int], seed: int, *, warmup: bool
) -> Iterator[PlannedTrial]:
    group = case.seed_group or case.id
    for run in numbers:
        yield PlannedTrial(
            id=trial_id(target.id, case.id, run, warmup=warmup),
            target_id=target.id,
            case_id=case.id,
            run=run,
            warmup=warmup,
            seed=_seed(case, seed, group, run, warmup=warmup),
        )


def _seed(case: CaseInfo, base: int, group: str, run: int, *, warmup: bool) -> int:
    """Return a trial's seed; a case's own seeds are for its measured runs."""
    if case.seeds and not warmup:
        return case.seeds[(run - 1) % len(case.seeds)]
    return derive_seed(base, group, run, warmup)


def _block_size(case: CaseInfo, target_count: int) -> int | None:
    """Return how many measured trials a block holds; ``None`` = all of the case's.

    A case that keeps a load up is cut only where targets take turns: each cut lets the load drain,
    which a single target need not suffer.
    """
    if case.concurrency == 1 and not case.is_load_point:
        return 1
    return None if target_count == 1 else case.concurrency * _LOADED_BLOCK_FACTOR


def _slices(numbers: range, size: int | None) -> list[range]:
    """Cut ``numbers``; a rest of less than half a slice joins the one before, or it never fills."""
    if size is None:
        return [numbers]
    starts = list(range(0, len(numbers), size))
    if len(starts) > 1 and (len(numbers) - starts[-1]) * 2 < size:
        starts.pop()
    ends = [*starts[1:], len(numbers)]
    return [numbers[start:end] for start, end in zip(starts, ends, strict=True)]


def _identity_lines(
    plan: Iterable[Block], cases: Iterable[CaseInfo], targets: Iterable[Target]
) -> Iterator[str]:
    for target in targets:
        yield f"target {target.id!r} {target.model!r}"
    for case in cases:
        yield f"case {case.id!r} {case.text_hash}"
    for block in plan:
        yield f"block {block.alone} {block.concurrency}"
        if block.stage is not None or block.sweep is not None:
            yield f"load {msgspec.json.encode(block.stage or block.sweep).decode()}"
        for trial in block.trials:
            yield f"trial {trial.id!r} {trial.seed}"
