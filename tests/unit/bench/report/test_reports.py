import csv
import io
import re
import unicodedata
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench.document import build_document, read_document
from bench.model.document import Document
from bench.model.resources import GatewayResources, ResourceSeries
from bench.model.run_config import RunConfig
from bench.model.trial import ChunkKind, StreamChunk
from bench.report import headline, render_reports, terminal_summary
from bench.report.escaping import display_width
from bench.report.resources import resource_chart
from tests import hostile
from tests.sample_documents import (
    FAST,
    PATH,
    SLOW,
    STREAM,
    case_info,
    failure,
    footer,
    killed_ledger,
    ledger,
    response,
    smoke_ledger,
    timing,
    trial,
    verdict,
)

VERSION_2 = Path(__file__).parents[3] / "golden" / "version2.json"
ENDINGS = (".md", ".html", "-timings.md", "-timings.csv")


def old_document() -> Document:
    return read_document(VERSION_2.read_bytes())


RUNS = {
    "smoke": cache(lambda: build_document(smoke_ledger())),
    "killed": cache(lambda: build_document(killed_ledger())),
    "version2": cache(old_document),
}


@cache
def rendered(run: str) -> dict[str, str]:
    return render_reports(hostile_document() if run == "hostile" else RUNS[run]())


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_report_is_the_one_that_was_read_by_a_person(run, ending, golden):
    golden(f"{run}{ending}", rendered(run)[ending])


@pytest.mark.parametrize("run", RUNS)
def test_a_terminal_summary_is_the_one_that_was_read_by_a_person(run, golden):
    golden(f"{run}.txt", terminal_summary(RUNS[run](), width=80))


EMPTY = {
    "nothing planned": ledger((), targets=(), cases=()),
    "nothing sent": ledger(()),
    "one trial": ledger((trial(),)),
    "one performance trial": ledger((trial(case=STREAM),), cases=(STREAM,)),
    "all failed": ledger((trial(response=failure()), trial(run=2, response=failure()))),
    "no usage, no cost": ledger(
        (trial(response=response(usage=None), estimated_cost_usd=None),),
    ),
    "no stream": ledger(
        (trial(case=STREAM, response=response(timing(None, 800.0))),), cases=(STREAM,)
    ),
    "all cancelled": ledger((trial(outcome="cancelled", invalidated="cancelled"),)),
    "only a warm-up": ledger((trial(case=STREAM, warmup=True),), cases=(STREAM,)),
}


@pytest.mark.parametrize("run", EMPTY)
def test_little_or_nothing_renders_without_nan(run):
    document = build_document(EMPTY[run])
    texts = [*render_reports(document).values(), terminal_summary(document, width=80)]
    for text in texts:
        assert not re.search(r"\b(nan|inf|none|null)\b", text.replace("'none'", "").lower()) or (
            "budget per target" in text
        )
        assert "None" not in text


# -- the first line ----------------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS)
def test_completeness_and_trust_come_first(run):
    document = RUNS[run]()
    reports = render_reports(document)
    first = headline(document)
    plain = first.replace("_", r"\_") if "_" in reports[".md"].split("\n", 1)[0] else first
    assert re.sub(r"\\", "", reports[".md"].split("\n", 1)[0]) == f"**{first}**", plain
    assert reports["-timings.md"].split("\n", 1)[0] == reports[".md"].split("\n", 1)[0]
    body = reports[".html"].split("<body>", 1)[1]
    assert body.index(first) < body.index("<h1>")
    assert terminal_summary(document, width=200).split("\n", 1)[0] == first


@pytest.mark.parametrize(
    ("document", "said"),
    [
        pytest.param(
            RUNS["smoke"](),
            "Complete, SIMULATED: 24 of 24 trials measured "
            "(swift/demo-small 12/12, steady/demo-small:eu 12/12), 1 failed",
            id="simulated",
        ),
        pytest.param(
            RUNS["killed"](),
            "INCOMPLETE, gateway_killed: 2 of 5 trials measured, "
            "1 possibly billed without an answer",
            id="killed",
        ),
        pytest.param(
            build_document(ledger((trial(), trial(run=2)), footer())),
            "Complete: 2 of 2 trials measured",
            id="nothing to doubt",
        ),
        pytest.param(
            RUNS["version2"](),
            "Plan unknown, an outage of unknown cause: 20 trials measured "
            "(aurora/glimmer-2 10, borealis/glimmer-2:us-east 10), 2 failed",
            id="version 2",
        ),
    ],
)
def test_the_headline_says_it_in_one_line(document, said):
    assert headline(document) == said


def test_simulated_is_marked_at_the_top_of_every_long_report():
    reports = rendered("smoke")
    assert "SIMULATED" in reports[".md"].split("\n")[0]
    assert "SIMULATED" in reports["-timings.md"].split("\n")[0]
    assert "<title>SIMULATED: " in reports[".html"]
    assert ",simulated," in reports["-timings.csv"].split("\n")[0]


# -- who leads ---------------------------------------------------------------------------------


def streams(target: Any, ttft: float, count: int = 8, **fields: Any) -> tuple[Any, ...]:
    return tuple(
        trial(target, STREAM, run, response=response(timing(ttft + run, ttft + 600), **fields))
        for run in range(1, count + 1)
    )


def compared(*trials: Any) -> str:
    run = ledger(trials, footer(), targets=(FAST, SLOW), cases=(PATH, STREAM))
    return " ".join(terminal_summary(build_document(run), width=200).split())


def test_a_lead_is_decided_when_intervals_lie_apart():
    text = compared(*streams(FAST, 100), *streams(SLOW, 400))
    assert "Fastest: swift/demo-small, TTFT 104 ms" in text
    assert "decided: the 95% intervals lie apart" in text


def test_a_lead_within_the_intervals_is_not_decided():
    assert "not decided: the 95% intervals overlap" in compared(
        *streams(FAST, 100), *streams(SLOW, 102)
    )


def test_few_trials_decide_nothing():
    assert "3 and 3 trials are too few, an interval needs 6" in compared(
        *streams(FAST, 100, 3), *streams(SLOW, 400, 3)
    )


def test_warm_and_cold_are_not_compared():
    assert "warm connections against cold ones can't be compared" in compared(
        *streams(FAST, 100), *streams(SLOW, 400, connection="cold")
    )


def test_equal_figures_are_a_tie():
    text = compared(
        *(trial(t, PATH, r, estimated_cost_usd=0.002) for t in (FAST, SLOW) for r in (1, 2))
    )
    assert "Cheapest: no difference, $0.00200 per right answer; all 2 targets are equal" in text


def test_some_equal_leaders_are_a_tie():
    targets = tuple(
        type(FAST)(id=f"t{n}", model="m", model_id="m", display_name="M") for n in range(5)
    )
    trials = tuple(
        trial(target, PATH, 1, evaluation=verdict(target.id != "t4")) for target in targets
    )
    text = terminal_summary(build_document(ledger(trials, targets=targets)), width=200)
    assert "Best answers: t0, t1 and 2 more, score 100%; a tie" in text


def test_the_cheaper_one_leads_without_an_interval():
    text = compared(
        trial(FAST, PATH, 1, estimated_cost_usd=0.002),
        trial(SLOW, PATH, 1, estimated_cost_usd=0.001),
    )
    assert "Cheapest: steady/demo-small:eu, $0.00100 per right answer" in text


def test_one_target_leads_nobody():
    summary = terminal_summary(build_document(ledger((trial(),))), width=80)
    assert "Fastest" not in summary


# -- the terminal ------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [20, 80, 120])
@pytest.mark.parametrize("count", [1, 3, 14, 60])
def test_a_summary_has_forty_lines_at_most_and_fits(count, width):
    targets = tuple(
        type(FAST)(
            id=f"provider-{n}/a-model-with-quite-a-long-name:region-{n}",
            model="m",
            model_id="m",
            display_name="M",
        )
        for n in range(count)
    )
    trials = tuple(t for n, target in enumerate(targets) for t in streams(target, 100 + n, 2))
    text = terminal_summary(
        build_document(ledger(trials, targets=targets, cases=(STREAM,))), width=width
    )
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(display_width, lines)) <= max(width, 64)


def test_every_target_is_told_or_counted():
    targets = tuple(
        type(FAST)(id=f"t{n}", model="m", model_id="m", display_name="M") for n in range(30)
    )
    text = terminal_summary(build_document(ledger((), targets=targets)), width=80)
    assert "16 more targets" in text


def test_many_caveats_are_counted():
    settings = RunConfig(model_ids=("m",), url="http://h/", overlap=True, max_cost_usd=0.0)
    trials = (
        *streams(FAST, 100, 1, connection="cold", simulated=True, cache_hit=True),
        trial(FAST, STREAM, 2, pin_violated=True),
        *streams(SLOW, 100, 1, connection="cold"),
        trial(SLOW, PATH, 1, response=failure("request_error")),
    )
    run = ledger(trials, targets=(FAST, SLOW), cases=(PATH, STREAM), config=settings)
    assert "more to know: see the report" in terminal_summary(build_document(run), width=80)


@cache
def hostile_document() -> Document:
    return hostile.hostile_document()


# -- hostile text ------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    # typing.override is not there before Python 3.12
    def handle_starttag(self, tag, attrs):  # type: ignore[explicit-override]
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_hostile_text_is_no_markup_in_html():
    page = rendered("hostile")[".html"]
    parser = Tags()
    parser.feed(page)
    assert parser.tags.isdisjoint({"script", "img", "link", "iframe", "a", "b onclick", "object"})
    assert not any(name.startswith("on") or name in {"src", "href"} for name in parser.attributes)
    assert page.count("<style>") == 1
    assert page.count("<h1>") == 1
    assert "&lt;script&gt;" in page
    assert "{{ 7 * 7 }}" in page


def test_hostile_text_is_no_markup_in_markdown():
    reports = rendered("hostile")
    for ending in (".md", "-timings.md"):
        text = reports[ending]
        assert "<" not in re.sub(r"`[^`]*`", "", text)
        assert "<" not in text
        outside = re.sub(r"`[^`\n]*`", "", text)
        assert "](" not in outside.replace("\\]", "")
        assert "://" not in outside
        assert "\n# owned" not in text
        headings = [line for line in text.split("\n") if line.startswith("# ")]
        assert len(headings) == 1


def test_hostile_text_breaks_no_markdown_table():
    text = rendered("hostile")[".md"]
    for block in re.split(r"\n\n", text):
        rows = [line for line in block.split("\n") if line.startswith("| ")]
        assert len({row.count("|") for row in rows}) <= 1


def test_hostile_text_is_no_formula_in_csv():
    text = rendered("hostile")["-timings.csv"]
    rows = list(csv.reader(io.StringIO(text)))
    assert {len(row) for row in rows} == {len(rows[0])}
    numeric = re.compile(r"-?\d+(\.\d+)?")
    for row in rows[1:]:
        for cell in row:
            assert numeric.fullmatch(cell) or not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("ending", [*ENDINGS, "terminal"])
def test_hostile_text_hides_nothing_and_steers_no_terminal(ending):
    texts = rendered("hostile") | {"terminal": terminal_summary(hostile_document(), width=80)}
    bad = {
        char
        for char in texts[ending]
        if char not in "\n\t" and unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    }
    assert bad == set()
    texts[ending].encode()


def test_the_terminal_summary_of_hostile_text_keeps_its_size():
    lines = terminal_summary(hostile_document(), width=80).splitlines()
    assert len(lines) <= 40
    assert max(map(display_width, lines)) <= 80


# -- the formats -------------------------------------------------------------------------------


def test_the_page_forbids_itself_everything_but_its_style():
    page = rendered("smoke")[".html"]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert " style=" not in page
    assert "http:" not in page.replace("http://127.0.0.1:18080", "")
    assert "https:" not in page
    assert "url(" not in page


def test_the_csv_begins_with_the_columns_of_the_older_system():
    header = rendered("smoke")["-timings.csv"].split("\n")[0]
    assert header.startswith(
        "targetId,caseId,run,warmup,evaluationPassed,responseError,finishReason,promptTokens,"
        "completionTokens,reasoningTokens,estimatedCostUsd,headersMs,firstEventMs,"
        "firstReasoningMs,firstContentMs,generationMs,totalMs,visibleTokensPerSecond,"
        "maxContentStallMs,averageContentChunkCharacters,finalContentBurstRatio,buffered,"
        "contentChunkCount,"
    )


def test_the_csv_has_every_trial_warm_ups_included():
    document = RUNS["smoke"]()
    rows = list(csv.DictReader(io.StringIO(render_reports(document)["-timings.csv"])))
    assert len(rows) == len(document.trials) == 26
    assert sum(row["warmup"] == "true" for row in rows) == 2
    failed = next(row for row in rows if row["errorCode"])
    assert failed["responseError"] == "rate limit: try again in 2 s"
    assert failed["firstContentMs"] == ""
    assert rows[0]["itlP50Ms"] == "17.5"


def test_timings_keep_failed_evaluations():
    wrong = trial(evaluation=verdict(False), response=response(timing(111, 999)))
    text = render_reports(build_document(ledger((wrong,))))["-timings.md"]
    row = next(line for line in text.split("\n") if "seeded_shortest_path" in line)
    assert "111" in row
    assert "0% (0 of 1, 0 to 79%)" in row


def test_a_held_back_stream_has_no_pace():
    held = tuple(
        trial(case=STREAM, run=run, response=response(timing(held_back=True))) for run in (1, 2)
    )
    document = build_document(ledger(held, cases=(STREAM,)))
    targets, _, speed = render_reports(document)[".md"].partition("## Speed")
    assert "held back" in targets
    row = next(line for line in speed.splitlines() if line.count("held back") > 1)
    assert row.count("| held back") == 4
    assert " held" in terminal_summary(document, width=80)


def test_long_lists_are_cut_and_counted():
    trials = tuple(trial(run=run, evaluation=verdict(False)) for run in range(1, 71))
    reports = render_reports(build_document(ledger(trials)))
    assert "10 more trials in the JSON document" in reports[".md"]
    assert "10 more in the JSON document" in reports[".html"]


def test_a_long_list_of_unsent_trials_is_cut_and_counted():
    run = ledger((), cases=(case_info(runs=250),))
    assert "50 more are in the JSON document" in render_reports(build_document(run))[".md"]


def test_long_output_is_cut_and_said():
    wrong = trial(evaluation=verdict(False), response=response(content="x" * 10_000))
    reports = render_reports(build_document(ledger((wrong,))))
    assert "9,700 more characters" in reports[".md"]
    assert "4,000 more characters" in reports[".html"]


def test_reasoning_and_tool_calls_are_told_apart_without_colour():
    kinds: tuple[ChunkKind, ...] = ("reasoning", "content", "tool")
    mixed = tuple(
        StreamChunk(at_ms=100.0 + n, characters=1, kind=kind, read=n)
        for n, kind in enumerate(kinds)
    )
    run = ledger((trial(case=STREAM, response=response(stream_chunks=mixed)),), cases=(STREAM,))
    page = render_reports(build_document(run))[".html"]
    heights = {
        kind: re.search(rf'<line class="{kind}"[^>]*y1="(\d+)" y2="(\d+)"', page) for kind in kinds
    }
    assert len({match.groups() for match in heights.values() if match}) == 3


def test_a_gateways_memory_and_processor_time_are_drawn_and_told_in_every_report():
    document = build_document(smoke_ledger())
    told = "ready in 412 ms; memory 41.2 MB idle, 62.4 MB at most; CPU 32.7 ms per request"
    reports = render_reports(document)
    assert told in reports[".md"]
    assert told in reports[".html"]
    assert told in " ".join(terminal_summary(document, width=80).split())
    assert reports[".html"].count("<polyline") == 2


def test_a_gap_in_the_samples_is_a_gap_in_the_curve():
    series = ResourceSeries(
        at_ms=(0.0, 1e3, 2e3, 3e3, 4e3),
        rss_mb=(10.0, 20.0, None, 20.0, 10.0),
        cpu_cores=(None, None, None, None, 0.5),
    )
    base = build_document(smoke_ledger())
    assert base.gateway is not None
    gateway = msgspec.structs.replace(
        base.gateway, resources=GatewayResources(samples=5, span_ms=4e3, requests=0, series=series)
    )
    chart = resource_chart(msgspec.structs.replace(base, gateway=gateway))
    assert chart is not None
    (curve,) = chart.curves
    assert curve.label == "Memory (MB)"
    assert curve.lines == ("0.0,50.0 250.0,0.0", "750.0,0.0 1000.0,50.0")


def test_without_samples_nothing_is_told_of_resources():
    document = build_document(killed_ledger())
    assert resource_chart(document) is None
    assert "Gateway:" not in terminal_summary(document, width=80)
