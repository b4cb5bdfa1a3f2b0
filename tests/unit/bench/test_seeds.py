from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bench.seeds import SEED_BITS, SeededStream, derive_seed, nonce


def test_each_coordinate_of_a_trial_changes_the_seed():
    seeds = {
        derive_seed(base, group, run, warmup)
        for base in (1, 2)
        for group in ("a", "b")
        for run in (1, 2)
        for warmup in (False, True)
    }
    assert len(seeds) == 16


def test_seeds_are_the_same_on_every_machine_and_python():
    assert derive_seed(1, "seeded_shortest_path", 1, False) == 5319934697942174
    assert nonce(7, label="x") == "bdaa6ca09981bd18"
    stream = SeededStream(1, label="pinned")
    assert [stream.below(1000) for _ in range(6)] == [158, 175, 586, 553, 308, 683]
    assert stream.shuffled("abcdefgh") == list("ebcgfhad")


@given(
    st.integers(), st.text(st.characters(codec="utf-8")), st.integers(min_value=1), st.booleans()
)
def test_a_seed_is_exact_as_a_json_number(base, group, run, warmup):
    assert 0 <= derive_seed(base, group, run, warmup) < 2**SEED_BITS


@given(st.integers(), st.integers(min_value=1, max_value=2**64))
def test_draws_stay_below_their_bound(seed, bound):
    stream = SeededStream(seed, label="bound")
    assert all(0 <= stream.below(bound) < bound for _ in range(5))


def test_a_bound_just_above_half_the_range_is_redrawn_until_it_is_unbiased():
    stream = SeededStream(3, label="rejection")
    draws = [stream.below(2**63 + 1) for _ in range(50)]
    assert len(set(draws)) == 50


def test_between_includes_both_ends():
    stream = SeededStream(5, label="ends")
    assert {stream.between(3, 5) for _ in range(100)} == {3, 4, 5}


@given(st.lists(st.integers()), st.integers())
def test_shuffling_is_a_permutation(items, seed):
    assert Counter(SeededStream(seed, label="s").shuffled(items)) == Counter(items)


@given(st.sets(st.integers(), min_size=1).map(sorted), st.integers(), st.data())
def test_a_sample_has_no_item_twice(items, seed, data):
    count = data.draw(st.integers(min_value=0, max_value=len(items)))
    sample = SeededStream(seed, label="s").sample(items, count)
    assert len(set(sample)) == count
    assert set(sample) <= set(items)


def test_streams_of_other_labels_are_independent():
    left, right = SeededStream(1, label="left"), SeededStream(1, label="right")
    assert [left.below(10**9) for _ in range(3)] != [right.below(10**9) for _ in range(3)]


def test_every_place_of_a_shuffle_is_equally_likely():
    firsts = Counter(SeededStream(seed, label="fair").shuffled("abcd")[0] for seed in range(2000))
    assert all(400 < count < 600 for count in firsts.values())
