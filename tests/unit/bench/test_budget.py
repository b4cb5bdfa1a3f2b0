from hypothesis import given
from hypothesis import strategies as st

from bench.budget import BusyClock, Union, union_ms

intervals = st.lists(
    st.tuples(st.integers(0, 1000), st.integers(0, 300)).map(lambda p: (p[0], p[0] + p[1])),
    max_size=12,
)


def test_overlapping_requests_count_once():
    assert union_ms([(0, 100), (50, 150), (400, 500)]) == 250


def test_no_request_is_no_time():
    assert union_ms([]) == 0


@given(intervals)
def test_the_union_is_at_most_the_sum_and_does_not_depend_on_order(spans):
    assert union_ms(spans) == union_ms(list(reversed(spans)))
    assert union_ms(spans) <= sum(end - start for start, end in spans)
    assert union_ms(spans) == len({ms for start, end in spans for ms in range(start, end)})


@given(intervals)
def test_the_running_clock_agrees_with_the_union(spans):
    clock = BusyClock()
    moments = sorted(
        [(start, 0) for start, _ in spans] + [(end, 1) for _, end in spans],
    )
    for at_ms, ends in moments:
        (clock.end if ends else clock.begin)(at_ms * 1_000_000)
    assert clock.in_flight == 0
    assert clock.used_ms(10**12) == union_ms(spans)


def test_a_request_in_flight_counts_before_it_ends():
    clock = BusyClock(used_before_ms=40)
    clock.begin(5_000_000)
    assert clock.used_ms(8_000_000) == 43
    assert not clock.is_spent(8_000_000, 44)
    assert clock.is_spent(8_000_000, 43)


def test_no_limit_is_never_spent():
    assert not BusyClock(used_before_ms=1e12).is_spent(0, None)


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 20)), max_size=40))
def test_a_union_that_grows_is_the_union_of_all(spans):
    pairs = [(float(begin), float(begin + length)) for begin, length in spans]
    union = Union()
    for begin, end in pairs:
        union.add(begin, end)
    assert union.ms() == union_ms(pairs)
