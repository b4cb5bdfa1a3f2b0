"""Reports of two arms in turn."""

import re
from functools import cache
from typing import Any

import msgspec
import pytest

from bench.document import build_document
from bench.model.document import Document
from bench.model.load import ClientReading
from bench.model.paired import PairLevel
from bench.model.surroundings import Gateway, Sample
from bench.report import headline, render_reports, terminal_summary
from bench.report.added_curves import added_charts
from bench.report.overhead import overhead_detail
from bench.report.pairs import pair_detail, pair_lines
from tests.sample_arms import arms, arms_ledger, even, streamed

LEVELS = (
    PairLevel(pairs=12, noise_pairs=6, cold_pairs=6),
    PairLevel(concurrency=8, requests=16, pairs=12, noise_pairs=6),
)


def answer(stage, number):
    """Answers a little slower through a gateway that claims less, more so with many at once."""
    is_through = stage.pair.phase != "noise" and stage.pair.side == "changed"
    jitter = 0.1 * ((stage.number * 7 + number * 3) % 11)
    added = (5.0 + stage.pair.level * 4.0) if is_through else 0.0
    own: dict[str, Any] = {"gateway_overhead_ms": 2.0} if is_through else {}
    return streamed(50.0 + jitter + added, **own)


@cache
def document() -> Document:
    samples = [
        Sample(at_ns=n * 10**9, values={"cpuMs": 50.0 * n, "rssMb": 80.0 + n / 10})
        for n in range(100)
    ]
    return build_document(arms_ledger(arms(*LEVELS), answer, samples=samples))


def of(*levels, **fields):
    return build_document(arms_ledger(arms(*(levels or LEVELS)), **fields))


@pytest.mark.parametrize("ending", [".md", ".html"])
def test_a_report_is_the_one_that_was_read_by_a_person(ending, golden):
    golden(f"overhead{ending}", render_reports(document())[ending])


def test_a_terminal_summary_is_the_one_that_was_read_by_a_person(golden):
    golden("overhead.txt", terminal_summary(document(), width=80))


def test_the_sentence_comes_first():
    assert re.match(r"Adds [\d.]+ ms \[[\d., ]+\] to TTFT", headline(document()))


def test_a_gateway_s_processor_time_is_shared_out_among_what_went_through_it():
    samples = [Sample(at_ns=n * 10**9, values={"cpuMs": 48.0 * n}) for n in range(11)]
    told = of(
        PairLevel(pairs=12, noise_pairs=6),
        samples=samples,
        more=lambda records: records.insert(len(records) - 1, Gateway()),
    )
    assert told.gateway is not None
    used = told.gateway.resources
    assert used is not None
    assert (used.cpu_ms, used.requests, used.cpu_ms_per_request) == (480.0, 12, 40.0)


def test_programs_are_told_the_differences_and_what_the_gateway_claims():
    told = pair_detail(document()) | overhead_detail(document())
    first = told["differences"][0]
    assert (first["load"], first["metric"], first["verdict"]) == ("1 at a time", "ttft", "higher")
    assert [one["load"] for one in told["claims"]] == ["1 at a time", "8 at once"]
    assert told["buffering"] == "none"


def test_nobody_races_anybody():
    assert "Fastest" not in terminal_summary(document(), width=80)


def test_blocks_are_not_listed_as_load_stages():
    assert document().summary.load_series == ()


def drawn(told):
    """Return of each chart what it is over, its places, and the name of each curve."""
    return [
        (
            chart.id.removeprefix("added-over-"),
            [tick.label for tick in chart.ticks],
            [curve.label.removeprefix("added to TTFT (ms)") for curve in chart.curves],
        )
        for chart in added_charts(told)
    ]


def test_a_curve_needs_two_levels():
    assert drawn(document()) == [("load", ["1", "8"], [""])]
    assert drawn(of(PairLevel(pairs=6))) == []
    sized = [PairLevel(pairs=6, prompt_bytes=size) for size in (1024, 16_384)]
    assert drawn(of(*sized)) == [("length", ["1,024", "16,384"], [", 1 at a time"])]


def test_levels_in_both_directions_are_drawn_in_both():
    levels = [
        PairLevel(pairs=6, concurrency=many, requests=many, prompt_bytes=size)
        for size in (1024, 16_384)
        for many in (1, 4)
    ]
    assert drawn(of(*levels)) == [
        ("load", ["1", "4"], [", prompts of 1,024 bytes", ", prompts of 16,384 bytes"]),
        ("length", ["1,024", "16,384"], [", 1 at a time", ", 4 at once"]),
    ]


def test_what_is_taken_off_is_drawn_below_zero():
    (chart,) = added_charts(of(answer=even(-5.0)))
    (curve,) = chart.curves
    assert [tick.label for tick in curve.ticks][1:] == ["0", "1"]
    assert curve.ticks[0].label.startswith("-")
    assert curve.band
    heights = [float(point.split(",")[1]) for point in curve.lines[0].split()]
    zero = 100 - curve.ticks[1].x
    assert all(zero < height <= 100 for height in heights)


def test_what_is_not_comparable_is_said_in_every_format():
    def other(stage, number):
        is_through = stage.pair.phase != "noise" and stage.pair.side == "changed"
        return streamed(50.0, response_model="<b>evil</b>" if is_through else "m")

    told = of(answer=other)
    assert "not comparable" in headline(told)
    reports = render_reports(told)
    assert all("not comparable" in reports[ending] for ending in (".md", ".html"))
    assert "<b>evil" not in reports[".html"]
    assert any(line.startswith("not comparable") for line in pair_lines(told))


def test_a_terminal_says_why_nothing_was_decided_and_what_it_leaves_out():
    few = terminal_summary(of(PairLevel(pairs=4)), width=160)
    assert "undecided (4 pairs are too few: an interval needs 6)" in few
    assert "more in the reports" not in few
    many = of(*(PairLevel(pairs=6, concurrency=n, requests=n) for n in range(1, 5)))
    assert "4 more in the reports" in terminal_summary(many, width=160)


def test_a_long_answer_is_told_to_its_end():
    def holding(stage, number):
        is_through = stage.pair.phase != "noise" and stage.pair.side == "changed"
        if not is_through:
            return streamed(50.0, response_model="another-model")
        return streamed(440.0, gap_ms=0.0)

    told = terminal_summary(of(PairLevel(pairs=12), answer=holding), width=80)
    assert "holds the whole answer back until its end" in " ".join(told.split())


def test_a_busy_client_is_said_first():
    told = of(reading=ClientReading(utilisation_max=0.97))
    assert "client too busy" in headline(told)
    assert any(caveat.code == "client_bound" for caveat in told.trust)


def test_noise_that_is_no_chance_is_noted():
    def drifting(stage, number):
        return streamed(50.0 + (5.0 if stage.pair.side == "changed" else 0.0) + stage.number / 100)

    assert any(caveat.code == "noise_floor" for caveat in of(answer=drifting).trust)


def test_pairs_left_out_are_counted_in_the_report():
    cut = of(blocks=30)
    assert "pairs left out" not in render_reports(of())[".md"]
    assert cut.summary.paired.levels


def test_a_document_holds_the_comparison_after_a_round_trip():
    encoded = msgspec.json.encode(document())
    again = msgspec.json.decode(encoded, type=Document)
    assert again.summary.paired == document().summary.paired
    assert again.summary.overhead == document().summary.overhead
