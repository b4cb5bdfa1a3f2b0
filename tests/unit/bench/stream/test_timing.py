import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model.trial import Timing, Usage
from bench.stream.deltas import CONTENT, REASONING, TOOL, Deltas
from bench.stream.timing import Stamps, measure, milliseconds, stream_chunks

MS = 1_000_000
_KIND = {"c": CONTENT, "r": REASONING, "t": TOOL}


def _deltas(*rows: tuple[str, float, int, int]) -> Deltas:
    """Rows of (kind, ms, characters, read)."""
    deltas = Deltas()
    for kind, at_ms, characters, read in rows:
        deltas.append(int(at_ms * MS), read, _KIND[kind], characters)
    return deltas


def _content(*at_ms: float) -> Deltas:
    return _deltas(*(("c", at, 4, read) for read, at in enumerate(at_ms)))


def _usage(completion: int, reasoning: int = 0) -> Usage:
    return Usage(
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        visible_completion_tokens=completion - reasoning,
    )


def _measure(
    deltas: Deltas, usage: Usage | None = None, *, end_ms: float | None = 100.0, stream: bool = True
) -> Timing:
    ended = None if end_ms is None else int(end_ms * MS)
    return measure(Stamps(t0_ns=0, ended_ns=ended), deltas, usage, asked_stream=stream)


def test_nothing_measured_is_none_and_never_zero() -> None:
    timing = measure(Stamps(t0_ns=5), Deltas(), None, asked_stream=True)
    assert timing == Timing()


def test_stamps_become_milliseconds_since_t0() -> None:
    stamps = Stamps(
        t0_ns=1 * MS,
        sent_ns=2 * MS,
        headers_ns=3 * MS,
        first_event_ns=4 * MS,
        ended_ns=9 * MS,
        dns_ns=100_000,
        connect_ns=200_000,
        tls_ns=300_000,
        lag_ns=400_000,
        is_body_open=True,
    )
    timing = measure(stamps, Deltas(), None, asked_stream=True)
    assert (timing.sent_ms, timing.headers_ms, timing.first_event_ms) == (1.0, 2.0, 3.0)
    assert (timing.total_ms, timing.body_not_ended) == (8.0, True)
    assert (timing.dns_ms, timing.connect_ms, timing.tls_ms) == (0.1, 0.2, 0.3)
    assert timing.client_lag_ms == 0.4


def test_ttft_is_content_and_first_token_is_anything() -> None:
    timing = _measure(_deltas(("r", 10, 5, 0), ("c", 30, 5, 1), ("c", 50, 5, 2), ("t", 60, 9, 3)))
    assert timing.first_reasoning_ms == timing.first_token_ms == 10.0
    assert (timing.first_content_ms, timing.last_content_ms) == (30.0, 50.0)
    assert timing.first_tool_call_ms == timing.last_token_ms == 60.0
    assert timing.generation_ms == 70.0
    assert timing.itl_ms == (20.0, 20.0, 10.0)
    assert timing.content_itl_ms == (20.0,)
    assert timing.max_content_stall_ms == 20.0
    assert (timing.content_chunk_count, timing.average_content_chunk_characters) == (2, 5.0)


def test_tokens_per_second_count_the_visible_ones_after_the_first() -> None:
    timing = _measure(_content(50, 60), _usage(31, 20))
    assert timing.visible_tokens_per_second == pytest.approx(10 / 0.05)


@pytest.mark.parametrize(
    "usage", [None, _usage(1), Usage(prompt_tokens=1)], ids=["no usage", "one token", "no count"]
)
def test_rates_per_token_need_two_tokens_and_usage(usage: Usage | None) -> None:
    timing = _measure(_content(50, 60), usage)
    assert timing.visible_tokens_per_second is None
    assert timing.tpot_ms is None
    assert timing.visible_tpot_ms is None


def test_a_total_that_equals_ttft_gives_no_rate() -> None:
    timing = _measure(_content(100), _usage(20))
    assert timing.generation_ms == 0.0
    assert timing.visible_tokens_per_second is None


def test_tpot_spans_all_tokens_and_visible_tpot_the_content() -> None:
    timing = _measure(
        _deltas(("r", 10, 1, 0), ("c", 40, 1, 1), ("c", 70, 1, 2)), _usage(7, reasoning=3)
    )
    assert timing.tpot_ms == 10.0
    assert timing.visible_tpot_ms == 10.0


def test_reasoning_that_is_billed_but_not_streamed_makes_tpot_unknown() -> None:
    timing = _measure(_content(40, 70), _usage(9, reasoning=5))
    assert timing.tpot_ms is None
    assert timing.visible_tpot_ms == 10.0


def test_visible_tpot_is_unknown_with_tool_calls() -> None:
    timing = _measure(_deltas(("c", 1, 1, 0), ("c", 2, 1, 1), ("t", 3, 1, 2)), _usage(5))
    assert timing.visible_tpot_ms is None
    assert timing.tpot_ms == 0.5


def test_one_chunk_has_no_time_per_token() -> None:
    timing = _measure(_content(40), _usage(9))
    assert (timing.tpot_ms, timing.itl_ms, timing.max_content_stall_ms) == (None, None, None)


def test_burst_is_the_share_of_characters_in_the_last_tenth() -> None:
    timing = _measure(_deltas(("c", 10, 30, 0), ("c", 89.9, 30, 1), ("c", 90, 40, 2)))
    assert timing.final_content_burst_ratio == 0.4


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        pytest.param(_content(10), True, id="one chunk"),
        pytest.param(_content(95, 96, 97), True, id="late and at once"),
        pytest.param(_content(10, 50, 95), False, id="spread"),
        pytest.param(_content(85, 86, 95), False, id="late, little of it in the last tenth"),
        pytest.param(_deltas(("r", 10, 1, 0)), None, id="no content"),
    ],
)
def test_buffered_is_the_rule_of_version_2(deltas: Deltas, expected: bool | None) -> None:
    assert _measure(deltas).buffered is expected


def test_buffered_is_unknown_without_an_end() -> None:
    assert _measure(_content(1), end_ms=None).buffered is None


def _spread(count: int, step_ms: float, per_read: int = 1) -> Deltas:
    return _deltas(*(("c", 10 + at * step_ms, 1, at // per_read) for at in range(count)))


@pytest.mark.parametrize(
    ("deltas", "usage", "expected"),
    [
        pytest.param(_spread(15, 1), None, None, id="15 deltas"),
        pytest.param(_spread(16, 1), None, False, id="16 deltas spread"),
        pytest.param(_spread(16, 0.3), None, True, id="16 deltas within 5 ms"),
        pytest.param(_spread(16, 2, per_read=8), None, True, id="two reads"),
        pytest.param(_spread(16, 2, per_read=6), None, False, id="three reads"),
        pytest.param(_spread(2, 50), _usage(40), True, id="many tokens in two reads"),
        pytest.param(_spread(20, 50), _usage(4), None, id="usage says few"),
        pytest.param(_spread(2, 50), _usage(40, 38), None, id="hidden reasoning is not held back"),
        pytest.param(_spread(0, 1), _usage(40), True, id="one JSON body in place of a stream"),
        pytest.param(_spread(0, 1), None, None, id="nothing"),
    ],
)
def test_held_back_is_many_tokens_in_few_reads(
    deltas: Deltas, usage: Usage | None, expected: bool | None
) -> None:
    assert _measure(deltas, usage, end_ms=500).held_back is expected


def test_what_was_asked_for_in_one_piece_is_not_held_back() -> None:
    assert _measure(Deltas(), _usage(40), stream=False).held_back is None


def test_coalesced_share_counts_deltas_with_one_before_them() -> None:
    assert _measure(_spread(4, 1, per_read=4)).coalesced_share == 1.0
    assert _measure(_spread(4, 1, per_read=2)).coalesced_share == pytest.approx(2 / 3)
    assert _measure(_spread(1, 1)).coalesced_share is None


def test_chunks_are_written_with_time_kind_and_read() -> None:
    chunks = stream_chunks(_deltas(("r", 10, 5, 0), ("t", 12, 3, 1)), t0_ns=4 * MS)
    assert [(c.at_ms, c.characters, c.kind, c.read) for c in chunks] == [
        (6.0, 5, "reasoning", 0),
        (8.0, 3, "tool", 1),
    ]


def test_milliseconds_are_cut_to_a_tenth_of_a_microsecond() -> None:
    assert milliseconds(1_234_567) == 1.2345


@given(
    st.lists(
        st.tuples(st.sampled_from("crt"), st.integers(0, 50), st.integers(1, 9), st.booleans()),
        max_size=30,
    ),
    st.integers(0, 60),
)
def test_laws_of_order_hold_for_any_answer(
    rows: list[tuple[str, int, int, bool]], completion: int
) -> None:
    at, read, made = 0, 0, []
    for kind, gap, characters, same_read in rows:
        if not same_read:
            at, read = at + gap, read + 1
        made.append((kind, at, characters, read))
    timing = _measure(_deltas(*made), _usage(completion), end_ms=at + 1)
    assert timing.total_ms is not None
    if made:
        assert timing.first_token_ms is not None
        assert timing.last_token_ms is not None
        assert timing.first_token_ms <= timing.last_token_ms <= timing.total_ms
        assert sum(timing.itl_ms or ()) == pytest.approx(
            timing.last_token_ms - timing.first_token_ms
        )
    if timing.first_content_ms is not None:
        assert timing.generation_ms == pytest.approx(timing.total_ms - timing.first_content_ms)
        assert 0 <= (timing.final_content_burst_ratio or 0) <= 1
    assert 0 <= (timing.coalesced_share or 0) <= 1
