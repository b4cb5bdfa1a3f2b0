"""From the pairs of two sides to verdicts, gates, what each side used, and one sentence."""

from dataclasses import replace

import msgspec
import pytest

from bench.ab.findings import ab_of, headline
from bench.ab.gates import Level, failure_differences, judge, pair_gates
from bench.document import build_document
from bench.load.gates import read_gate
from bench.model.paired import PairLevel
from bench.model.surroundings import Gateway, Sample
from bench.paired.blocks import find_pairs
from bench.report.ab import ab_detail, ab_lines, ab_sections
from bench.report.pairs import pair_detail
from tests.sample_arms import arms, arms_ledger, even, streamed
from tests.sample_documents import failure

A, B = "a (main at 1a2b3c4d5)", "b (tree)"


def sides(*levels, **fields):
    """Return the pairing of two builds."""
    pairing = arms(*(levels or (PairLevel(pairs=24),)), **fields)
    return msgspec.structs.replace(
        pairing,
        kind="ab",
        base=msgspec.structs.replace(pairing.base, label=A),
        changed=msgspec.structs.replace(pairing.changed, label=B),
    )


def ledger_of(pairing=None, answer=None, *gates, **fields):
    ledger = arms_ledger(pairing or sides(), answer, **fields)
    config = msgspec.structs.replace(ledger.header.config, gates=gates)
    return replace(ledger, header=msgspec.structs.replace(ledger.header, config=config))


def told(ledger):
    return ab_of(ledger, ledger.header.config.paired)[0].headline


def test_a_slower_build_is_said_with_interval_and_share():
    text = told(ledger_of(answer=even(5.0)))
    assert text.startswith("b is 5.0")
    assert "ms slower in TTFT [+4." in text
    assert "+10." in text


def test_a_faster_build_is_called_faster():
    assert "ms faster in TTFT [-" in told(ledger_of(answer=even(-5.0)))


def test_equal_builds_say_what_would_have_shown():
    text = told(ledger_of(answer=even(0.0, noise_ms=2.0)))
    assert text.startswith(
        "b does not differ from a as far as this run can tell; it would have shown"
    )


def test_an_a_a_run_says_so_first():
    pairing = sides(is_same=True)
    assert told(ledger_of(pairing, even(0.0))).startswith("A/A, both sides are the same: ")


def test_each_level_is_named_where_there_are_several():
    pairing = sides(PairLevel(pairs=12), PairLevel(pairs=12, concurrency=8, requests=8))
    text = told(ledger_of(pairing, even(5.0)))
    assert ", 1 at a time" in text
    assert ", 8 at once" in text


def test_nothing_measured_and_too_little_measured_are_said():
    assert "no pair of answers" in headline((), is_same=False)
    few = told(ledger_of(sides(PairLevel(pairs=3)), even(5.0)))
    assert few.startswith("whether b differs from a is undecided (3 pairs are too few: an interval")


def test_verdicts_hold_together_so_each_needs_more():
    one = ab_of(ledger_of(), sides())[1]
    assert one.confidence == pytest.approx(1 - 0.05 / 3)
    pairing = sides(PairLevel(pairs=8), PairLevel(pairs=8, concurrency=2, requests=2))
    two = ab_of(ledger_of(pairing), pairing)[1]
    assert two.confidence == pytest.approx(1 - 0.05 / 6)
    gated = ledger_of(None, None, "ttft=+50%")
    (gate,) = pair_gates(gated, sides(), ab_of(gated, sides())[0])
    wide = ab_of(gated, sides())[0].levels[0].warm[0]
    assert gate.verdict == "passed"
    assert wide.ratio_interval is not None
    assert gate.interval is not None
    assert wide.ratio_interval[1] - wide.ratio_interval[0] >= gate.interval[1] - gate.interval[0]


# ---- gates --------------------------------------------------------------------------------------


def gate_of(text, answer=None, pairing=None, **fields):
    ledger = ledger_of(pairing, answer, text, **fields)
    paired = ledger.header.config.paired
    return pair_gates(ledger, paired, ab_of(ledger, paired)[0])[0]


@pytest.mark.parametrize(
    ("text", "added", "verdict"),
    [
        pytest.param("ttft=+5%", 5.0, "failed", id="beyond"),
        pytest.param("ttft=+15%", 5.0, "passed", id="within"),
        pytest.param("ttft=+2ms", 5.0, "failed", id="milliseconds"),
        pytest.param("ttft=+8ms", 5.0, "passed", id="milliseconds-within"),
        pytest.param("ttft=-5%", -5.0, "failed", id="less-is-forbidden"),
        pytest.param("ttft=-5%", 5.0, "passed", id="more-is-no-less"),
        pytest.param("errors=+20pt", 5.0, "passed", id="errors"),
    ],
)
def test_the_whole_interval_decides(text, added, verdict):
    assert gate_of(text, even(added)).verdict == verdict


def test_a_bound_inside_the_interval_is_undecided_and_says_how_many_pairs_would_tell():
    found = gate_of("ttft=+1ms", even(1.3, noise_ms=4.0))
    assert found.verdict == "undecided"
    assert found.interval[0] < 1.0 < found.interval[1]
    assert found.count_to_decide > found.count == 24


def test_too_few_pairs_name_the_fewest():
    found = gate_of("ttft=+5%", pairing=sides(PairLevel(pairs=3)))
    assert (found.verdict, found.interval) == ("undecided", None)
    assert found.why.startswith("3 pairs are too few")


def failing(stage, number):
    """Every second answer of b fails."""
    is_broken = stage.pair.side == "changed" and stage.pair.number % 2 == 0
    return failure() if is_broken else streamed(50.0 + number)


def test_failures_count_although_pairs_without_an_answer_are_left_out_elsewhere():
    ledger = ledger_of(answer=failing)
    differences = failure_differences(ledger.stages.entries, 0)
    assert len(differences) == 24
    assert sum(differences) == pytest.approx(12)
    found = gate_of("errors=+5pt", failing)
    assert found.verdict == "failed"
    assert found.value == pytest.approx(0.5)


def test_how_many_pairs_would_tell_a_share_of_failures_is_reckoned_from_the_share():
    def rarely(stage, number):
        is_broken = stage.pair.side == "changed" and stage.pair.number % 12 == 0
        return failure() if is_broken else streamed(50.0 + number)

    found = gate_of("errors=+1pt", rarely)
    assert (found.verdict, found.count) == ("undecided", 24)
    half, distance = (found.interval[1] - found.interval[0]) / 2, found.value - 0.01
    assert found.count_to_decide == pytest.approx(24 * (half / distance) ** 2, abs=1)


def test_arms_that_did_other_work_decide_nothing():
    def other(stage, number):
        model = "x" if stage.pair.side == "changed" else "m"
        return streamed(50.0, response_model=model)

    found = gate_of("ttft=+5%", other)
    assert found.verdict == "undecided"
    assert found.why.startswith("not comparable")
    assert found.count_to_decide is None


def test_a_level_that_was_not_reached_is_undecided():
    level = Level(number=1, label="level 2", pairs=None)
    found = judge(read_gate("ttft=+5%"), level, seed=1)
    assert found.verdict == "undecided"
    (pairs,) = find_pairs(ledger_of().stages.entries)
    whole = judge(read_gate("itl.p90=+1ms"), Level(number=0, label="x", pairs=pairs), seed=1)
    assert whole.verdict == "passed"


# ---- what each side was and used ------------------------------------------------------------------


def used(side, at_s, cpu_ms, rss_mb):
    values = {"cpuMs": float(cpu_ms), "rssMb": float(rss_mb)}
    return Sample(at_ns=int(at_s * 1e9), values=values, side=side)


SAMPLES = (
    used("base", 1, 100, 50),
    used("changed", 1, 200, 80),
    used("base", 5, 148, 60),
    used("changed", 5, 296, 90),
)
GATEWAYS = (
    Gateway(side="base", build={"commit": "a" * 40, "isDirty": False}, exit={"code": 0}),
    Gateway(side="changed", build={"commit": "b" * 40, "isDirty": True}, exit={"code": 0}),
)


def whole_document():
    ledger = ledger_of(
        None,
        even(5.0),
        "ttft=+5%",
        samples=(*SAMPLES,),
        more=lambda records: records.extend(GATEWAYS),
    )
    return build_document(ledger)


def test_each_side_has_its_own_build_and_its_own_use():
    a, b = whole_document().summary.ab.sides
    assert (a.build["commit"], b.build["commit"]) == ("a" * 40, "b" * 40)
    assert (a.requests, a.failed) == (24, 0)
    assert a.resources.cpu_ms == 48.0
    assert a.resources.cpu_ms_per_request == pytest.approx(48.0 / a.sent)
    assert (b.resources.cpu_ms, b.resources.peak_rss_mb) == (96.0, 90.0)


def test_reports_show_both_sides_and_programs_get_the_figures():
    document = whole_document()
    assert document.gateway.resources is None
    (section,) = [one for one in ab_sections(document) if one.id == "sides"]
    assert [row[0].text for row in section.table.rows] == [A, B]
    assert section.table.rows[1][1].detail == "with uncommitted changes"
    assert any("ms of processor time per request" in line for line in ab_lines(document))
    detail = ab_detail(document)
    assert detail["sides"]["changed"]["commit"] == "b" * 40
    assert pair_detail(document)["differences"][0]["verdict"] == "higher"


def test_a_run_of_one_endpoint_has_none_of_it():
    document = build_document(arms_ledger())
    assert ab_sections(document) == ()
    assert ab_detail(document) == {}
    assert list(ab_lines(document)) == []
