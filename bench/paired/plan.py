"""The order in which two arms are asked: pair by pair, the first of each drawn. Pure."""

from collections.abc import Iterator

from bench.model.blocks import Block
from bench.model.load import Stage
from bench.model.paired import Pairing, PairLevel, PairPhase, PairPlace, Side
from bench.seeds import SeededStream

SHAPES_KEPT = 8
"""Answers of a block whose chunks are kept: how a stream was cut shows in few of them."""


def paired_blocks(pairing: Pairing, case_id: str, *, seed: int) -> tuple[Block, ...]:
    """Return the blocks of a run of two arms, in the order in which they are run.

    Level by level: first the noise floor (the base arm against itself), then warm pairs, then cold
    ones. The two blocks of a pair follow each other; which comes first is drawn, in such a way that
    each side is first in half of a phase's pairs. No two stages have the same number, hence no two
    blocks the same prompts: nobody finds the other's answer in a cache.
    """
    blocks: list[Block] = []
    for place in _places(pairing, seed):
        level = pairing.levels[place.level]
        side: Side = "base" if place.phase == "noise" else place.side
        stage = _stage(level, place, number=len(blocks) + 1)
        blocks.append(
            Block(
                target_id=pairing.arm(side).target_id,
                case_id=case_id,
                alone=True,
                concurrency=level.concurrency,
                trials=(),
                stage=stage,
            )
        )
    return tuple(blocks)


def _places(pairing: Pairing, seed: int) -> Iterator[PairPlace]:
    for index, level in enumerate(pairing.levels):
        counts: tuple[tuple[PairPhase, int], ...] = (
            ("noise", level.noise_pairs),
            ("warm", level.pairs),
            ("cold", level.cold_pairs),
        )
        for phase, pairs in counts:
            firsts = _firsts(pairs, SeededStream(seed, label=f"pairs {index} {phase}"))
            for number, first in enumerate(firsts, start=1):
                second: Side = "changed" if first == "base" else "base"
                for side in (first, second):
                    yield PairPlace(phase=phase, level=index, number=number, side=side)


def _firsts(pairs: int, stream: SeededStream) -> list[Side]:
    """Return who is first in each pair: half of them each, in a drawn order."""
    half: list[Side] = ["base", "changed"] * (pairs // 2)
    odd: list[Side] = [stream.pick(("base", "changed"))] if pairs % 2 else []
    return stream.shuffled([*half, *odd])


def _stage(level: PairLevel, place: PairPlace, *, number: int) -> Stage:
    is_cold = place.phase == "cold"
    return Stage(
        number=number,
        concurrency=level.concurrency,
        requests=level.requests,
        warmups=level.warmups if place.number == 1 and not is_cold else 0,
        fresh_connections=is_cold,
        prompt_bytes=level.prompt_bytes,
        lock_step=level.lock_step,
        chunks_kept=SHAPES_KEPT,
        pair=place,
    )
