from typing import Any

import pytest

from bench.model.paired import Comparison, LevelResult, PairLevel
from bench.model.surroundings import Sample
from bench.model.trial import StreamChunk
from bench.overhead.amounts import number, signed
from bench.overhead.findings import headline, overhead_of, sentence
from tests.sample_arms import arms, arms_ledger, even, pairing_of, streamed


def found(difference=14.0, interval=(12.0, 16.0), verdict="higher", **fields):
    described: dict[str, Any] = {"metric": "ttft", "unit": "ms", "pairs": 12} | fields
    return Comparison(difference=difference, interval=interval, verdict=verdict, **described)


def level(*warm, label="1 at a time"):
    return LevelResult(
        level=0,
        label=label,
        concurrency=1,
        requests=24,
        failed_base=0,
        failed_changed=0,
        warm=warm,
    )


@pytest.mark.parametrize(
    ("comparison", "words"),
    [
        pytest.param(found(), "Adds 14.0 ms [12.0, 16.0] to TTFT", id="more"),
        pytest.param(
            found(-3.0, (-4.0, -2.0), "lower"), "Takes 3.00 ms off TTFT [-4.00, -2.00]", id="less"
        ),
        pytest.param(
            found(0.1, (-0.2, 0.4), "within"),
            "Adds nothing that shows to TTFT: +0.10 ms [-0.20, +0.40]",
            id="nothing",
        ),
        pytest.param(
            found(1.0, None, "undecided", why="4 pairs are too few"),
            "What it adds to TTFT is undecided (4 pairs are too few); measured +1.00 ms",
            id="undecided",
        ),
        pytest.param(
            found(250.0, (1.0, 2_000.0), metric="total"),
            "Adds 250 ms [1.00, 2,000] to the whole answer",
            id="total",
        ),
    ],
)
def test_a_comparison_is_one_clause(comparison, words):
    assert sentence(comparison) == words


def test_the_headline_tells_other_levels_beside_the_first():
    told = headline([level(found()), level(found(20.0), label="64 at once")], None)
    assert told == "Adds 14.0 ms [12.0, 16.0] to TTFT (1 at a time, +20.0 ms at 64 at once)."


def test_levels_with_commas_in_their_names_are_told_apart():
    sized = [level(found(), label=f"1 at a time, prompts of {size} KB") for size in (1, 16)]
    assert headline(sized, None) == (
        "Adds 14.0 ms [12.0, 16.0] to TTFT (1 at a time, prompts of 1 KB; "
        "+14.0 ms at 1 at a time, prompts of 16 KB)."
    )


def test_of_many_levels_the_headline_says_from_where_to_where():
    many = [level(found(14.0 + n), label=f"{2**n} at once") for n in range(6)]
    assert headline(many, None) == (
        "Adds 14.0 ms [12.0, 16.0] to TTFT (1 at once; +15.0 to +19.0 ms at 5 other loads)."
    )


def test_without_a_stream_the_whole_answer_is_told():
    told = headline([level(found(pairs=0), found(30.0, (28.0, 32.0), metric="total"))], None)
    assert told.startswith("Adds 30.0 ms [28.0, 32.0] to the whole answer")


def test_a_run_without_answers_says_so():
    assert headline([], None) == "What the gateway adds was not measured: no pair of answers."


def test_an_overhead_run_is_one_sentence():
    ledger = arms_ledger(answer=even(5.0))
    summary, findings = overhead_of(ledger, pairing_of(ledger))
    assert summary.headline.startswith("Adds 5.")
    assert summary.headline.endswith("; does not buffer.")
    assert (findings.claim, findings.claims) == (None, ())
    assert findings.use == ()


def test_the_gateways_own_claim_stands_beside_what_was_measured():
    def claiming(stage, number):
        is_through = stage.pair.phase != "noise" and stage.pair.side == "changed"
        own: dict[str, Any] = {"gateway_overhead_ms": 1.5} if is_through else {}
        return streamed(56.0 if is_through else 50.0, **own)

    ledger = arms_ledger(answer=claiming)
    _, findings = overhead_of(ledger, pairing_of(ledger))
    (claim,) = findings.claims
    assert (claim.claimed_ms, claim.answers) == (1.5, 12)
    assert claim.measured_ms == pytest.approx(6.0)


def test_a_claim_is_held_against_what_was_measured_at_the_same_load():
    def claiming(stage, number):
        is_through = stage.pair.phase != "noise" and stage.pair.side == "changed"
        busier = 100.0 * stage.pair.level
        cold = 900.0 if stage.pair.phase == "cold" else 0.0
        own: dict[str, Any] = {"gateway_overhead_ms": 2.0 + busier + cold} if is_through else {}
        return streamed(50.0 + (5.0 + busier if is_through else 0.0), **own)

    levels = (PairLevel(pairs=8, cold_pairs=6), PairLevel(concurrency=4, requests=8, pairs=6))
    ledger = arms_ledger(arms(*levels), claiming)
    _, findings = overhead_of(ledger, pairing_of(ledger))
    assert [(c.level, c.claimed_ms, c.answers) for c in findings.claims] == [
        (0, 2.0, 8),
        (1, 102.0, 48),
    ]
    assert [c.measured_ms for c in findings.claims] == pytest.approx([5.0, 105.0])
    assert findings.claim == findings.claims[0]


@pytest.mark.parametrize(("quiet", "verdict"), [(0, "none"), (1, "coalesces")])
def test_bursts_that_only_a_heavier_load_makes_are_no_buffer(quiet, verdict):
    def bunched_under_load(stage, number):
        is_through = stage.pair.phase != "noise" and stage.pair.side == "changed"
        if not is_through or stage.pair.level == quiet:
            return streamed(50.0)
        chunks = tuple(
            StreamChunk(at_ms=50.0 + 40.0 * (n // 4), characters=8, kind="content", read=n + 2)
            for n in range(40)
        )
        return streamed(50.0, stream_chunks=chunks)

    levels = (PairLevel(pairs=6), PairLevel(concurrency=4, requests=4, pairs=12))
    ledger = arms_ledger(arms(*levels), bunched_under_load)
    _, findings = overhead_of(ledger, pairing_of(ledger))
    assert findings.buffering is not None
    assert findings.buffering.verdict == verdict


def samples(cpu_per_s=100.0, count=60):
    """Return a sample a second, with so much processor time and memory that grows."""
    return [
        Sample(
            at_ns=n * 1_000_000_000,
            values={"cpuMs": cpu_per_s * n, "rssMb": 300.0 + n},
        )
        for n in range(count)
    ]


def test_what_the_processes_used_is_told_per_request_through_the_gateway():
    ledger = arms_ledger(samples=samples())
    _, findings = overhead_of(ledger, pairing_of(ledger))
    (use,) = findings.use
    # 12 pairs take 24 s, in which 12 requests and a warm-up or none go through the gateway.
    assert use.cpu_ms_per_request == pytest.approx(2_400 / 12, rel=0.15)
    assert use.idle_cpu_cores == pytest.approx(0.1)
    assert use.rss_mb == pytest.approx(318, abs=3)
    assert use.rss_rise_mb == pytest.approx(36, abs=2)


def test_a_count_that_began_again_is_told_of_nobody():
    broken = samples()
    broken[30:] = [
        Sample(at_ns=one.at_ns, values={"cpuMs": one.values["cpuMs"] - 3_000, "rssMb": 300.0})
        for one in broken[30:]
    ]
    ledger = arms_ledger(samples=broken)
    _, findings = overhead_of(ledger, pairing_of(ledger))
    assert findings.use[0].cpu_ms_per_request is None


def test_memory_alone_is_told_where_nothing_else_is_known():
    only = [Sample(at_ns=n * 10**9, values={"rssMb": 200.0}) for n in range(40)]
    ledger = arms_ledger(arms(PairLevel(pairs=6), PairLevel(pairs=6, concurrency=2)), samples=only)
    _, findings = overhead_of(ledger, pairing_of(ledger))
    assert [use.rss_mb for use in findings.use] == [200.0, 200.0]
    assert findings.use[0].cpu_ms_per_request is None


def test_figures_carry_as_many_digits_as_they_are_worth():
    assert [number(value) for value in (0.123, 12.34, 1_234.5)] == ["0.12", "12.3", "1,234"]
    assert [signed(value) for value in (-0.5, 0.0, 0.5, None)] == ["-0.50", "0.00", "+0.50", "-"]
