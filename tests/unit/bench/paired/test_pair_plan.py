from collections import Counter

import pytest

from bench.model.paired import PairLevel
from bench.paired.plan import SHAPES_KEPT, paired_blocks
from bench.plan import staged_trial
from tests.sample_arms import BASE, CHANGED, arms
from tests.sample_documents import STREAM

LEVELS = (
    PairLevel(pairs=10, noise_pairs=4, cold_pairs=3, warmups=2),
    PairLevel(concurrency=8, requests=32, pairs=6, prompt_bytes=16_384),
)


def blocks(seed=1):
    return paired_blocks(arms(*LEVELS), STREAM.id, seed=seed)


def places(**wanted):
    return [
        block.stage.pair
        for block in blocks()
        if all(getattr(block.stage.pair, name) == value for name, value in wanted.items())
    ]


def test_the_other_arm_is_always_next():
    laid = [block.stage.pair for block in blocks()]
    for first, second in zip(laid[::2], laid[1::2], strict=True):
        assert (first.phase, first.level, first.number) == (
            second.phase,
            second.level,
            second.number,
        )
        assert {first.side, second.side} == {"base", "changed"}


def test_noise_is_measured_first_and_on_the_base_arm_alone():
    phases = [block.stage.pair.phase for block in blocks() if block.stage.pair.level == 0]
    assert phases == ["noise"] * 8 + ["warm"] * 20 + ["cold"] * 6
    quiet = {block.target_id for block in blocks() if block.stage.pair.phase == "noise"}
    assert quiet == {BASE.id}
    sides = {"base": BASE.id, "changed": CHANGED.id}
    for block in blocks():
        if block.stage.pair.phase != "noise":
            assert block.target_id == sides[block.stage.pair.side]


@pytest.mark.parametrize("seed", range(5))
def test_each_arm_is_first_in_half_of_the_pairs(seed):
    firsts = Counter(
        block.stage.pair.side
        for block in blocks(seed)[::2]
        if (block.stage.pair.level, block.stage.pair.phase) == (0, "warm")
    )
    assert firsts == {"base": 5, "changed": 5}


def test_the_order_is_drawn_from_the_seed():
    orders = {tuple(block.target_id for block in blocks(seed)) for seed in range(10)}
    assert len(orders) > 5
    assert blocks(3) == blocks(3)


def test_no_two_requests_of_a_run_share_a_seed():
    numbers = [block.stage.number for block in blocks()]
    assert numbers == list(range(1, len(numbers) + 1))
    seeds = {
        staged_trial(b.target_id, STREAM, b.stage.number, n, seed=1, warmup=False).seed
        for b in blocks()
        for n in range(1, b.stage.requests + 1)
    }
    assert len(seeds) == sum(block.stage.requests for block in blocks())


def test_only_the_first_pair_of_a_phase_warms_up_and_cold_ones_never():
    warmed = [block.stage.pair for block in blocks() if block.stage.warmups]
    assert {place.number for place in warmed} == {1}
    assert {place.phase for place in warmed} == {"noise", "warm"}


def test_a_stage_says_how_it_is_asked():
    stage = blocks()[-1].stage
    assert (stage.concurrency, stage.requests, stage.prompt_bytes) == (8, 32, 16_384)
    assert stage.chunks_kept == SHAPES_KEPT
    cold = [block.stage for block in blocks() if block.stage.pair.phase == "cold"]
    assert all(stage.fresh_connections for stage in cold)
    assert len(places(phase="cold")) == 6


def test_a_block_begins_all_at_once_where_that_is_asked_for():
    level = PairLevel(concurrency=8, requests=32, pairs=6, lock_step=True)
    for made, is_at_once in (
        (paired_blocks(arms(level), STREAM.id, seed=1), True),
        (blocks(), False),
    ):
        assert made
        assert {block.stage and block.stage.lock_step for block in made} == {is_at_once}
