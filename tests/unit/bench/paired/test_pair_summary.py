from itertools import pairwise

import msgspec
import pytest

from bench.model.header import Resumed
from bench.model.load import ClientReading, StageDone
from bench.model.paired import PairLevel
from bench.model.trial import Usage
from bench.paired.blocks import Figure, find_pairs
from bench.paired.comparability import setting_confounds, spoiled
from bench.paired.summary import Judging, level_label, paired_levels
from tests.sample_arms import arms, arms_ledger, even, pairing_of, streamed
from tests.sample_documents import failure, header


def warm(ledger, metric="ttft"):
    levels, _ = paired_levels(ledger, pairing_of(ledger))
    return next(one for one in levels[0].warm if one.metric == metric)


def confounds(ledger):
    return {one.code: one for one in paired_levels(ledger, pairing_of(ledger))[1]}


def through(**fields):
    """Answers that differ in ``fields`` where they come through the gateway."""

    def answer(stage, number):
        is_through = stage.pair.phase != "noise" and stage.pair.side == "changed"
        return streamed(50.0 + number + stage.number % 3, **fields if is_through else {})

    return answer


def test_what_is_added_is_the_median_difference_with_an_interval():
    found = warm(arms_ledger(answer=even(5.0)))
    assert found.difference == pytest.approx(5.0, abs=0.3)
    assert found.interval[0] < found.difference < found.interval[1]
    assert found.verdict == "higher"
    assert (found.pairs, found.noise.pairs) == (12, 6)
    assert found.p50_difference == pytest.approx(5.0, abs=0.3)
    assert found.ratio == pytest.approx(1.1, abs=0.01)
    assert found.ratio_interval[0] < 1.1 < found.ratio_interval[1]


def test_a_gateway_that_is_faster_has_a_negative_difference():
    found = warm(arms_ledger(answer=even(-4.0)))
    assert found.difference == pytest.approx(-4.0, abs=0.3)
    assert found.verdict == "lower"


def test_chance_alone_decides_nothing():
    found = warm(arms_ledger(answer=even(0.0, noise_ms=3.0)))
    assert found.verdict == "within"
    assert found.smallest_detectable > 0
    assert not found.noise.flagged


def test_gaps_and_totals_are_compared_too():
    levels, _ = paired_levels(arms_ledger(), arms())
    assert [one.metric for one in levels[0].warm] == ["ttft", "itl", "total"]
    assert warm(arms_ledger(), "itl").difference == 0.0


def test_too_few_pairs_are_undecided_and_say_how_many_are_needed():
    found = warm(arms_ledger(arms(PairLevel(pairs=4))))
    assert (found.verdict, found.interval) == ("undecided", None)
    assert "needs 6" in found.why


def test_noise_that_is_no_chance_takes_small_verdicts_away():
    def drifting(stage, number):
        extra = 5.0 if stage.pair.side == "changed" else 0.0
        return streamed(50.0 + extra + 0.01 * stage.number)

    found = warm(arms_ledger(answer=drifting))
    assert found.noise.flagged
    assert found.verdict == "undecided"
    assert "against itself" in found.why


def test_a_pair_torn_by_an_interruption_is_left_out():
    def tear(records):
        ends = [n for n, one in enumerate(records) if isinstance(one, StageDone)]
        at = ends[12]  # between the two blocks of a warm pair
        offset = records[at].ended_offset_ms + 1
        environment = header((), ()).environment
        records.insert(
            at + 1,
            Resumed(at="2026-11-30T09:10:00.000Z", offset_ms=offset, environment=environment),
        )

    ledger = arms_ledger(more=tear)
    levels, _ = paired_levels(ledger, arms())
    assert (levels[0].warm[0].pairs, levels[0].dropped_pairs) == (11, 1)


def test_a_run_that_was_cut_compares_what_there_is():
    ledger = arms_ledger(blocks=12 + 7)
    levels, _ = paired_levels(ledger, arms())
    assert (levels[0].warm[0].pairs, levels[0].dropped_pairs) == (3, 1)
    assert paired_levels(arms_ledger(blocks=0), arms())[0] == ()


def test_blocks_in_which_most_failed_are_left_out_and_failures_are_counted():
    def failing(stage, number):
        is_through = stage.pair.phase == "warm" and stage.pair.side == "changed"
        if is_through and (stage.pair.number == 1 or number == 1):
            return failure("http_503")
        return streamed(50.0)

    ledger = arms_ledger(arms(PairLevel(concurrency=4, requests=4, pairs=8)), failing)
    (level,), _ = paired_levels(ledger, pairing_of(ledger))
    assert (level.dropped_pairs, level.failed_base, level.failed_changed) == (1, 0, 7)
    assert level.warm[0].pairs == 7


def test_answers_that_are_whole_before_the_upstream_can_have_begun_are_not_its():
    def cached(stage, number):
        is_through = stage.pair.phase == "warm" and stage.pair.side == "changed"
        return streamed(0.4, gap_ms=0.0) if is_through else streamed(50.0)

    told = confounds(arms_ledger(answer=cached))["too_early"]
    assert told.text.startswith("12 of 12 answers of the gateway were whole in less than half of")
    assert told.spoils == ("*",)
    assert warm(arms_ledger(answer=cached)).verdict == "undecided"
    assert "too_early" not in confounds(arms_ledger(answer=even(-20.0)))


def test_percentiles_of_blocks_are_figures_too():
    figure = Figure(metric="ttft", fraction=0.99)
    ledger = arms_ledger(arms(PairLevel(concurrency=2, requests=8, pairs=6)))
    (level,), _ = paired_levels(ledger, arms(PairLevel(pairs=6)), Judging(figures=(figure,)))
    assert [one.metric for one in level.warm] == ["ttft.p99"]


def test_a_busy_client_decides_nothing():
    busy = ClientReading(utilisation_max=0.97)
    ledger = arms_ledger(reading=busy)
    (level,), _ = paired_levels(ledger, arms())
    assert "97% busy" in level.client_bound[0]
    assert {one.verdict for one in level.warm} == {"undecided"}


@pytest.mark.parametrize(
    ("stamps", "spoiled"),
    [("kernel", set()), ("loop", {"ttft", "itl"})],
)
def test_late_reads_matter_only_where_reading_made_the_stamps(stamps, spoiled):
    late = ClientReading(stamps=stamps, receive_lag_p99_ms=9.0, loop_lag_p99_ms=9.0)
    (level,), _ = paired_levels(arms_ledger(reading=late), arms())
    assert set(level.client_spoils) == spoiled
    assert bool(level.client_bound) is bool(spoiled)
    undecided = {one.metric for one in level.warm if "this client" in one.why}
    assert undecided == spoiled


@pytest.mark.parametrize(
    ("fields", "code", "spoils"),
    [
        pytest.param({"response_model": "other-1"}, "other_model", "ttft", id="model"),
        pytest.param(
            {"usage": Usage(prompt_tokens=900, completion_tokens=80)},
            "other_prompt_tokens",
            "ttft",
            id="prompt",
        ),
        pytest.param(
            {"usage": Usage(prompt_tokens=100, completion_tokens=40)},
            "other_answer_tokens",
            "total",
            id="answer",
        ),
        pytest.param({"cache_hit": True}, "response_cache", "ttft", id="cache"),
        pytest.param({"fallback": True}, "fallback", "itl", id="fallback"),
        pytest.param(
            {"usage": Usage(prompt_tokens=100, completion_tokens=80, cached_prompt_tokens=64)},
            "prompt_cache",
            "ttft",
            id="prompt cache",
        ),
    ],
)
def test_other_work_is_not_comparable(fields, code, spoils):
    plain = Usage(prompt_tokens=100, completion_tokens=80)

    def answer(stage, number):
        is_through = stage.pair.phase == "warm" and stage.pair.side == "changed"
        own = {"usage": plain, "response_model": "m-1"} | (fields if is_through else {})
        return streamed(50.0 + stage.number % 3, **own)

    ledger = arms_ledger(answer=answer)
    assert code in confounds(ledger)
    found = warm(ledger, spoils)
    assert found.verdict == "undecided"
    assert found.why.startswith("not comparable")


def test_an_answer_of_another_length_leaves_the_first_token_comparable():
    ledger = arms_ledger(answer=through(usage=Usage(completion_tokens=10)))
    assert warm(ledger).verdict != "undecided" or "not comparable" not in warm(ledger).why


def test_the_same_model_under_a_dated_name_is_the_same():
    ledger = arms_ledger(answer=through(response_model="m-2026-01-01"))
    assert "other_model" not in confounds(ledger)


def test_other_keys_are_told_and_spoil_nothing():
    base, changed = arms().base, arms().changed
    base = msgspec.structs.replace(base, api_key_env="UP")
    (found,) = setting_confounds(base, changed)
    assert "`UP`" in found.text
    assert spoiled([found], "ttft") == ""
    assert setting_confounds(base, changed, is_simulated=True) == ()
    assert setting_confounds(base, base) == ()


def test_levels_have_names():
    assert level_label(PairLevel(pairs=1)) == "1 at a time"
    assert level_label(PairLevel(pairs=1, concurrency=8)) == "8 at once"
    assert level_label(PairLevel(pairs=1, prompt_bytes=16_384)) == "1 at a time, prompts of 16 KB"
    assert level_label(PairLevel(pairs=1, prompt_bytes=100)) == "1 at a time, prompts of 100 bytes"


def test_pairs_are_found_in_their_order():
    found = find_pairs(arms_ledger().stages.entries)
    by_phase = {pairs.phase: pairs for pairs in found}
    numbers = [pair.base.place.number for pair in by_phase["warm"].whole]
    assert all(a < b for a, b in pairwise(numbers))
