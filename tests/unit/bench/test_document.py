import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench import __version__
from bench.document import build_document, encode_document, read_document
from bench.document.trust import Circumstances, caveats
from bench.errors import JournalUnreadable
from bench.model.agent import AgentRun
from bench.model.agent_summary import AgentSummary
from bench.model.document import Document
from bench.model.header import Environment, Resumed
from bench.model.run_config import RunConfig
from bench.model.steps import Started
from bench.model.summary import (
    EfficiencySummary,
    FingerprintSummary,
    MetricSummary,
    NumericSummary,
    PerformanceSummary,
    QualitySummary,
    Rate,
    ReliabilitySummary,
    RobustnessSummary,
)
from bench.model.surroundings import Gateway, Incident, Sample
from bench.model.trial import Timing
from bench.report import headline, render_reports, terminal_summary
from tests.sample_documents import (
    EXTRACTION,
    FAST,
    PATH,
    SLOW,
    STREAM,
    TOOLS,
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

VERSION_2 = Path(__file__).parents[2] / "golden" / "version2.json"


def as_json(document: Document) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(encode_document(document))
    return parsed


def codes(document: Document) -> list[str]:
    return [caveat.code for caveat in document.trust]


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(smoke_ledger(), id="whole"),
        pytest.param(killed_ledger(), id="killed"),
        pytest.param(ledger(()), id="nothing sent"),
        pytest.param(ledger((), targets=(), cases=()), id="nothing planned"),
        pytest.param(ledger((trial(response=failure()),)), id="all failed"),
    ],
)
def test_a_document_survives_encoding(run):
    document = build_document(run)
    assert read_document(encode_document(document)) == document


def test_version_2_readers_find_what_they_expect():
    raw = as_json(build_document(smoke_ledger()))
    assert raw["schemaVersion"] == 2
    assert raw["generator"] == {
        "name": "gateway-bench",
        "version": __version__,
        "documentVersion": 2,
    }
    assert {"startedAt", "finishedAt", "durationMs", "targets", "cases", "trials"} <= raw.keys()
    assert (
        raw["config"]
        | {
            "concurrency": 1,
            "includeResponses": True,
            "referenceTargetId": FAST.id,
            "disableCache": True,
            "disableFallback": True,
            "request": {},
        }
        == raw["config"]
    )
    assert raw["targets"][0]["metadata"]["inputPrice"] == 2e-7
    first = raw["trials"][0]
    assert (first["kind"], first["category"], first["difficulty"]) == (
        "quality",
        "reasoning",
        "medium",
    )
    assert "confidence" not in first["evaluation"]
    assert {
        "targets",
        "cases",
        "categories",
        "difficulties",
        "dimensions",
        "pairwiseAgreement",
        "load",
    } <= raw["summary"].keys()


def test_a_version_2_reader_sees_usage_and_tool_calls_in_its_own_shapes():
    raw = as_json(build_document(smoke_ledger()))
    failed = next(t for t in raw["trials"] if t["response"]["error"])
    assert failed["response"]["usage"]["promptTokens"] is None
    called = next(t for t in raw["trials"] if t["response"]["toolCalls"])
    assert called["response"]["toolCalls"][0]["function"] == {
        "name": "get_weather",
        "arguments": '{"city": "Oslo"}',
    }


def test_the_figures_of_version_2_fields_have_their_names():
    target = as_json(build_document(smoke_ledger()))["summary"]["targets"][0]
    assert {
        "score",
        "instructionScore",
        "firstPassScore",
        "uniqueAnswers",
        "answerEntropy",
        "consistencyRate",
        "meanConfidence",
        "brierScore",
    } <= target["quality"].keys()
    assert {"ttftMs", "visibleTokensPerSecond", "bufferedRate"} <= target["performance"].keys()
    assert {
        "count",
        "p50",
        "p95",
        "standardDeviation",
        "medianAbsoluteDeviation",
        "coefficientOfVariation",
    } <= target["performance"]["ttftMs"].keys()
    assert {"estimatedCostUsd", "costPerCorrectAnswerUsd", "usageMissingRate"} <= target[
        "efficiency"
    ].keys()
    assert {"successRate", "malformedStreamRate", "errorsByCode"} <= target["reliability"].keys()


def test_no_number_is_nan_or_infinite():
    odd = response(timing(float("nan"), float("inf"), client_lag_ms=float("-inf")))
    data = encode_document(build_document(ledger((trial(response=odd, finished_offset_ms=2.0),))))

    def refuse(name: str) -> None:
        raise AssertionError(name)

    json.loads(data, parse_constant=refuse)


def test_a_key_is_nowhere_because_it_was_never_given():
    key = "sk-test-0123456789abcdef0123456789abcdef"
    run = smoke_ledger(
        config=RunConfig(
            model_ids=("demo-small",),
            url="http://127.0.0.1:1/v1/chat/completions",
            api_key_env="LOCAL_GATEWAY_KEY",
            header_names=("x-team",),
        )
    )
    data = encode_document(build_document(run))
    assert key.encode() not in data
    assert b"Bearer" not in data
    assert not re.search(rb"sk-[A-Za-z0-9]{8}", data)
    assert b"LOCAL_GATEWAY_KEY" in data


def test_completeness_counts_planned_and_done_per_target():
    done = build_document(killed_ledger()).completeness
    assert (done.planned, done.done, done.is_complete, done.exit_code) == (5, 2, False, 4)
    target = done.targets[0]
    assert (target.invalidated, target.lost, target.not_run) == (1, 1, 1)


def test_warm_ups_are_not_planned_trials():
    done = build_document(smoke_ledger()).completeness
    assert (done.planned, done.done, done.failed) == (24, 24, 1)
    assert done.is_complete


def live(*extra):
    """A run under way: one trial answered, one asked, one still to come."""
    return ledger((trial(),), *extra, cases=(PATH, EXTRACTION, TOOLS))


def asked(case, run, *, at):
    return Started(trial_id=f"{FAST.id}|{case.id}|r{run}", offset_ms=at, reserve_usd=0.002)


def test_a_run_that_is_still_measured_is_told_as_going_on_and_not_as_dead():
    run = live(asked(EXTRACTION, 1, at=2_000.0))
    document = build_document(run, is_going_on=True)
    done = document.completeness
    assert (done.reason, done.in_flight, done.is_complete) == (None, 1, False)
    assert (done.targets[0].lost, document.possibly_billed) == (0, ())
    assert {entry.reason for entry in document.not_run} == {"not_yet"}
    assert done.targets[0].not_run == len(document.not_run)
    assert document.trust[0].code == "going_on"
    assert f"1 of {done.planned} planned trials are done, 1 request is in flight" in (
        document.trust[0].text
    )
    reports = "".join([*render_reports(document).values(), terminal_summary(document, width=200)])
    assert "STILL RUNNING" in reports
    assert not re.search(
        "killed|possibly billed|never sent|gateway-bench resume", reports, re.IGNORECASE
    )


def test_of_a_resumed_run_what_was_lost_before_is_not_taken_for_in_flight():
    here = Environment(tool_version="0", python="3.11", host="h", system="Linux")
    lost, now = asked(EXTRACTION, 1, at=2_000.0), asked(EXTRACTION, 2, at=2_000.1)
    again = Resumed(at="z", offset_ms=live(lost).offset_ms, environment=here)
    assert again.offset_ms == lost.offset_ms
    document = build_document(live(lost, again, now), is_going_on=True)
    assert document.possibly_billed == (lost,)
    assert (document.completeness.in_flight, document.completeness.targets[0].lost) == (1, 1)
    idle = build_document(live(lost, again), is_going_on=True)
    assert "no request is in flight" in idle.trust[0].text


def test_a_run_without_a_footer_counts_as_killed():
    document = build_document(ledger((trial(),)))
    assert document.completeness.reason is None
    assert [entry.reason for entry in document.not_run] == ["killed"]
    assert document.finished_at == "2026-11-30T09:00:01.900Z"
    assert document.duration_ms == 1_900.0
    assert "killed" in document.trust[0].text


def test_the_footers_reason_stands_at_trials_that_were_never_sent():
    document = build_document(ledger((trial(),), footer(reason="budget")))
    assert [entry.reason for entry in document.not_run] == ["budget"]


def test_a_lost_request_is_possibly_billed_not_unsent():
    lost = Started(trial_id=f"{FAST.id}|{PATH.id}|r2", offset_ms=2_000.0, reserve_usd=0.5)
    document = build_document(ledger((trial(),), lost))
    assert document.not_run == ()
    assert [start.reserve_usd for start in document.possibly_billed] == [0.5]
    assert document.spend.reserved_usd == 0.5
    assert document.spend.total_usd == pytest.approx(0.500088)
    assert "$0.500000" in next(c.text for c in document.trust if c.code == "possibly_billed")


def test_a_lost_request_without_a_bound_may_cost_anything():
    lost = Started(trial_id=f"{FAST.id}|{PATH.id}|r2", offset_ms=2_000.0)
    document = build_document(ledger((trial(),), lost))
    assert document.spend.total_usd is None
    assert "an unknown amount" in next(
        c.text for c in document.trust if c.code == "possibly_billed"
    )


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(ledger((trial(),), simulated=True), id="header"),
        pytest.param(ledger((trial(response=response(simulated=True)),)), id="one answer"),
        pytest.param(smoke_ledger(), id="gateway"),
    ],
)
def test_a_simulated_upstream_is_marked(run):
    document = build_document(run)
    assert document.simulated
    assert "simulated" in codes(document)


@pytest.mark.parametrize(
    ("name", "touched", "level", "says"),
    [
        pytest.param("gateway_killed", 2, "broken", "2 trials touched", id="the gateway died"),
        pytest.param("machine_slept", 1, "doubtful", "asks only what is missing", id="a sleep"),
        pytest.param("build_changed", 0, "doubtful", "of two builds", id="another build"),
        pytest.param("disk_low", 0, "note", "may not fit", id="little room"),
        pytest.param("exposed", 0, "note", "are not touched", id="a word people kill by"),
    ],
)
def test_an_incident_is_as_bad_as_what_it_does_to_the_figures(name, touched, level, says):
    happened = Incident(
        incident_class=name,
        at="2026-11-30T10:00:01.000Z",
        summary="It happened.",
        detail={"files": {"chunk.js": "changed"}},
        touched_trials=tuple(f"t|c|r{n}" for n in range(touched)),
    )
    (caveat,) = [c for c in build_document(ledger((trial(),), happened)).trust if c.code == name]
    assert caveat.level == level
    assert caveat.text.startswith("It happened. ")
    assert says in caveat.text
    assert ("resume" in caveat.text) == bool(touched)


def test_a_moved_commit_over_the_same_built_files_is_only_a_note():
    moved = Incident(
        incident_class="build_changed",
        at="z",
        summary="git's HEAD went from a to b.",
        detail={"files": {}, "head": "…"},
    )
    (caveat,) = [
        c for c in build_document(ledger((trial(),), moved)).trust if c.code == "build_changed"
    ]
    assert (caveat.level, "are what they were" in caveat.text) == ("note", True)


def test_caveats_come_worst_first():
    levels = [caveat.level for caveat in build_document(killed_ledger()).trust]
    assert levels == sorted(levels, key=["broken", "doubtful", "note"].index)
    assert codes(build_document(killed_ledger()))[0] == "gateway_killed"


@pytest.mark.parametrize(
    ("lag", "is_flagged"),
    [
        pytest.param(1.9, False, id="below the floor"),
        pytest.param(9.0, False, id="below 5% of a TTFT of 200 ms"),
        pytest.param(11.0, True, id="above both"),
        pytest.param(None, False, id="not measured"),
    ],
)
def test_a_busy_client_is_said(lag, is_flagged):
    trials = tuple(
        trial(case=STREAM, run=run, response=response(timing(client_lag_ms=lag)))
        for run in range(1, 6)
    )
    document = build_document(ledger(trials, cases=(STREAM,)))
    assert ("client_bound" in codes(document)) is is_flagged


def test_without_a_ttft_the_lag_is_held_against_the_floor():
    slow_client = trial(response=response(Timing(total_ms=900.0, client_lag_ms=3.0)))
    assert "client_bound" in codes(build_document(ledger((slow_client,))))


def test_answers_by_others_are_said():
    trials = (
        trial(case=STREAM, run=1, pin_violated=True),
        trial(case=STREAM, run=2, response=response(fallback=True)),
        trial(case=STREAM, run=3, response=response(cache_hit=True)),
    )
    document = build_document(ledger(trials, cases=(STREAM,)))
    text = next(c.text for c in document.trust if c.code == "not_pinned")
    assert "another provider or model answered in 1 trial" in text
    assert "fell back or tried again in 1 trial" in text
    assert "response cache in 1 trial" in text


@pytest.mark.parametrize(
    ("config", "code"),
    [
        pytest.param({"overlap": True}, "overlap", id="overlap"),
        pytest.param({"max_cost_usd": 0.00001}, "over_limit", id="limit passed"),
    ],
)
def test_settings_that_cast_doubt_are_said(config, code):
    settings = RunConfig(model_ids=("m",), url="http://127.0.0.1:1/", **config)
    assert code in codes(build_document(ledger((trial(),), config=settings)))


def test_an_unknown_cost_of_a_paid_run_is_said():
    settings = RunConfig(model_ids=("m",), url="https://gateway.example/", is_paid=True)
    free = trial(estimated_cost_usd=None, cost_source=None)
    run = ledger((free,), config=settings)
    assert "cost_unknown" not in codes(build_document(run)), "its reserve stands for it"
    document = build_document(
        ledger((), Started(trial_id=f"{FAST.id}|{PATH.id}|r1", offset_ms=1.0), config=settings)
    )
    assert "cost_unknown" in codes(document)


def test_a_target_without_success_is_said():
    document = build_document(ledger((trial(response=failure()), trial(run=2, response=failure()))))
    assert "no_success" in codes(document)


def test_what_a_target_without_success_said_stands_in_the_first_line_and_in_its_caveat():
    said = "HTTP 404: The model `m` does not exist"
    bad = failure("http_404", message=f"{said}.")
    other = failure("http_502", message="HTTP 502: bad gateway")
    trials = (trial(response=other), trial(run=2, response=bad), trial(run=3, response=bad))
    document = build_document(ledger(trials))
    assert headline(document).startswith(f"NO ANSWER ({said}.)")
    (told,) = [one.text for one in document.trust if one.code == "no_success"]
    assert f" It said: {said}. Its errors" in told


def test_a_long_story_of_a_failing_target_is_cut():
    bad = failure("http_404", message="HTTP 404: " + "no " * 200)
    first = headline(build_document(ledger((trial(response=bad), trial(run=2, response=bad)))))
    assert "…)" in first
    assert len(first) < 300


def test_where_one_target_answered_the_other_s_words_stand_in_its_caveat_alone():
    bad = failure("http_404", message="HTTP 404: no such model")
    document = build_document(
        ledger((trial(target=FAST), trial(SLOW, response=bad)), targets=(FAST, SLOW))
    )
    assert "no such model" not in headline(document)
    (told,) = [one.text for one in document.trust if one.code == "no_success"]
    assert "It said: HTTP 404: no such model." in told


def test_speed_on_cold_connections_only_is_said():
    cold = tuple(
        trial(case=STREAM, run=run, response=response(connection="cold")) for run in range(1, 6)
    )
    assert "headline_cold" in codes(build_document(ledger(cold, cases=(STREAM,))))


def test_damage_and_resumption_are_said():
    run = ledger((trial(), trial(run=2)))
    damaged = msgspec.structs.replace(build_document(run).completeness, damaged_lines=1, resumed=2)
    assert damaged.damaged_lines == 1
    document = build_document(run)
    found = caveats(
        Circumstances(
            completeness=damaged,
            config=document.config,
            spend=document.spend,
            summary=document.summary,
            trials=document.trials,
        )
    )
    assert {"damaged_journal", "resumed"} <= {caveat.code for caveat in found}


def test_answers_are_left_out_when_they_were_not_to_be_kept():
    settings = RunConfig(model_ids=("m",), url="http://127.0.0.1:1/", save_responses=False)
    kept = build_document(ledger((trial(),), config=settings)).trials[0].response
    assert (kept.content, kept.tool_calls, kept.stream_chunks) == ("", (), ())
    assert not kept.texts_kept
    assert kept.timing.first_content_ms == 200.0


def test_prices_and_hashes_are_kept_with_their_date():
    document = build_document(smoke_ledger())
    assert document.price_snapshot is not None
    assert document.price_snapshot.as_of == "2026-11-30"
    assert set(document.price_snapshot.targets) == {FAST.id, SLOW.id}
    assert document.case_text_hashes[PATH.id] == "ab" * 32


def test_an_unlisted_case_does_not_lose_its_trial():
    stray = trial(case=case_info("no_longer_there"))
    document = build_document(ledger((stray,)))
    assert document.trials[0].kind is None
    assert document.summary.targets[0].attempted == 1


def test_a_version_2_document_is_read_with_what_it_lacks_unknown():
    document = read_document(VERSION_2.read_bytes())
    assert document.generator is None
    assert document.completeness.planned is None
    assert document.completeness.done == 20
    assert [t.id for t in document.trials[:2]] == [
        "aurora/glimmer-2|seeded_shortest_path|r1",
        "aurora/glimmer-2|seeded_shortest_path|r2",
    ]
    warmup = next(t for t in document.trials if t.warmup)
    assert warmup.id.endswith("|w1")
    failed = next(t for t in document.trials if t.response.error)
    assert failed.outcome == "failed"
    assert failed.response.error is not None
    assert failed.response.error.seed_code == "request_error"
    assert document.trials[0].response.connection is None
    assert [chunk.read for chunk in document.trials[0].response.stream_chunks] == [0, 1, 1, 2, 3, 3]
    called = next(t for t in document.trials if t.response.tool_calls)
    assert called.response.tool_calls[0].name == "get_weather"
    assert {"version_2", "request_error"} <= set(codes(document))


def test_figures_of_a_version_2_document_are_computed_from_its_trials():
    document = read_document(VERSION_2.read_bytes())
    first, second = document.summary.targets
    assert (first.attempted, first.succeeded, first.quality.score) == (10, 9, 1.0)
    assert (second.quality.passed, second.quality.attempted) == (4, 5)
    assert first.performance.headline == "all"
    assert first.performance.ttft_ms is not None
    assert first.performance.ttft_ms.count == 4
    assert first.reliability.errors_by_code == {"request_error": 1}
    assert second.reliability.rate_limit_rate == 0.1
    assert second.agent is not None
    assert second.agent["solved"] == 1
    assert first.planned is None
    prices = document.targets[0].metadata.prices
    assert prices is not None
    assert (prices.input_usd, prices.request_usd) == (1.5e-7, None)
    assert document.cases[2].difficulty is None
    assert document.config.max_tokens == 512


def test_a_document_says_class_of_an_incident_and_its_first_format_version_is_read_too():
    document = build_document(killed_ledger())
    raw = as_json(document)
    (incident,) = raw["incidents"]
    assert incident["class"] == "gateway_killed"
    incident["incidentClass"] = incident.pop("class")
    raw["generator"]["documentVersion"] = 1
    assert read_document(json.dumps(raw).encode()).incidents == document.incidents


def test_the_one_claim_of_a_gateway_in_an_older_document_is_read_as_one_of_several():
    raw = as_json(build_document(killed_ledger()))
    claim = {"answers": 36, "claimedMs": 12.0, "measuredMs": 35.4}
    raw["summary"]["overhead"] = {"buffering": None, "claim": claim, "use": []}
    found = read_document(json.dumps(raw).encode()).summary.overhead
    assert found is not None
    assert found.claims == (found.claim,)
    assert found.claims[0].claimed_ms == 12.0


@pytest.mark.parametrize("incidents", [7, [7], [{"incidentClass": 7}], {"incidentClass": "x"}])
def test_incidents_of_a_wrong_kind_are_named(incidents):
    raw = as_json(build_document(killed_ledger())) | {"incidents": incidents}
    with pytest.raises(JournalUnreadable, match="incidents"):
        read_document(json.dumps(raw).encode())


def test_what_was_read_from_version_2_can_be_written_and_read_again():
    document = read_document(VERSION_2.read_bytes())
    raw = as_json(document) | {"generator": {"name": "x", "version": "1", "documentVersion": 1}}
    assert read_document(json.dumps(raw).encode()).summary == document.summary


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"not json", "is not JSON", id="no JSON"),
        pytest.param(b"[1]", "no `schemaVersion`", id="no object"),
        pytest.param(b"{}", "no `schemaVersion`", id="empty"),
        pytest.param(b'{"schemaVersion": 1}', "schema version 1; this reads 2", id="older"),
        pytest.param(
            b'{"schemaVersion": 2, "generator": {"documentVersion": 99}}',
            "format version 99, written by a newer tool",
            id="newer",
        ),
        pytest.param(b'{"schemaVersion": 2}', "field of a wrong kind", id="nothing in it"),
        pytest.param(
            b'{"schemaVersion": 2, "generator": {"name": 1}}', "wrong kind", id="broken generator"
        ),
        pytest.param(
            b'{"schemaVersion": 2, "targets": [], "cases": [], "config": {"url": "u"},'
            b' "trials": [{"response": {"timing": "late"}}]}',
            "wrong kind",
            id="broken trial",
        ),
        pytest.param(
            b'{"schemaVersion": 2, "targets": 7, "cases": [], "config": {}, "trials": []}',
            "wrong kind",
            id="targets are no list",
        ),
    ],
)
def test_what_is_no_document_is_refused_with_its_reason(data, said):
    with pytest.raises(JournalUnreadable, match=re.escape(said)) as caught:
        read_document(data)
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_a_verdict_without_an_answer_is_kept():
    kept = build_document(
        ledger((trial(case=TOOLS, evaluation=verdict(None, None)),), cases=(TOOLS,))
    )
    assert kept.trials[0].evaluation is not None
    assert kept.summary.targets[0].quality.attempted == 0


def test_a_target_that_does_not_stream_is_said():
    held = tuple(
        trial(case=STREAM, run=run, response=response(timing(held_back=run > 2)))
        for run in range(1, 6)
    )
    document = build_document(ledger(held, cases=(STREAM,)))
    text = next(c.text for c in document.trust if c.code == "held_back")
    assert "does not stream: 3 of 5 answers" in text


def test_every_figure_is_explained():
    told = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
    records = (
        NumericSummary,
        Rate,
        MetricSummary,
        PerformanceSummary,
        QualitySummary,
        ReliabilitySummary,
        FingerprintSummary,
        RobustnessSummary,
        EfficiencySummary,
        Timing,
        AgentRun,
        AgentSummary,
    )
    counts = {"trials", "excluded", "completionTokens", "promptTokens", "cachedPromptTokens"}
    ranges = {"p90Interval", "p95Interval", "bodyNotEnded"}
    names = (
        {field.encode_name for record in records for field in msgspec.structs.fields(record)}
        - counts
        - ranges
    )
    same_as_in_a_trial = {"ttftMs"}
    missing = {name for name in names if f"`{name}`" not in told} - same_as_in_a_trial
    assert missing == set()


# ---- the gateway's resource use ------------------------------------------------------------------


def sample(second, **values):
    return Sample(at_ns=second * 1_000_000_000, values={k: float(v) for k, v in values.items()})


STARTED = Gateway(events=({"name": "spawned"}, {"name": "ready"}), ready_after_ms=412.0)


def used(*records, gateway=STARTED):
    document = build_document(ledger((), *records, gateway))
    assert document.gateway is not None
    return document.gateway.resources


def test_without_a_sample_nothing_is_known_of_resources():
    assert used() is None


def test_processor_time_is_shared_among_the_requests_between_first_and_last_sample():
    found = used(
        sample(1, cpuMs=200, rssMb=40),
        Started(trial_id="t|c|r1", offset_ms=0.0),
        sample(2, cpuMs=300, rssMb=60),
        Started(trial_id="t|c|r2", offset_ms=1.0),
        sample(3, cpuMs=320, rssMb=55),
        Started(trial_id="t|c|r3", offset_ms=2.0),
    )
    assert (found.requests, found.cpu_ms, found.cpu_ms_per_request) == (2, 120.0, 60.0)
    assert (found.mean_cpu_cores, found.peak_cpu_cores) == (0.06, 0.1)
    assert (found.idle_rss_mb, found.peak_rss_mb, found.final_rss_mb) == (40.0, 60.0, 55.0)
    assert (found.cold_start_ms, found.cold_start_cpu_ms) == (412.0, 200.0)
    assert found.series.at_ms == (0.0, 1000.0, 2000.0)
    assert found.series.cpu_cores == (None, 0.1, 0.02)


def test_what_was_not_sampled_is_unknown_not_zero():
    found = used(sample(1, rssMb=40), sample(2, rssMb=41), gateway=Gateway(ready_after_ms=9.0))
    assert (found.samples, found.requests) == (2, 0)
    for name in ("cpu_ms", "cpu_ms_per_request", "mean_cpu_cores", "peak_cpu_cores"):
        assert getattr(found, name) is None, name
    for name in ("idle_pss_mb", "max_threads", "max_descriptors", "max_connections_in"):
        assert getattr(found, name) is None, name
    assert found.cold_start_ms is None, "it was up already"


def test_a_resumed_run_adds_its_parts_though_each_watched_another_gateway():
    found = used(
        sample(100, cpuMs=500),
        Started(trial_id="t|c|r1", offset_ms=0.0),
        sample(101, cpuMs=700),
        Resumed(at="z", offset_ms=5_000.0, environment=smoke_ledger().header.environment),
        sample(7, cpuMs=90),
        Started(trial_id="t|c|r1", attempt=2, offset_ms=5_000.0),
        sample(8, cpuMs=100),
    )
    assert (found.cpu_ms, found.span_ms, found.requests) == (210.0, 2000.0, 2)
    assert found.series.at_ms == (0.0, 1000.0, 5000.0, 6000.0)
    assert found.series.cpu_cores == (None, 0.2, None, 0.01)


def test_a_long_series_is_thinned_and_keeps_its_peak():
    found = used(*(sample(n, rssMb=99 if n == 1_234 else 10) for n in range(1, 3_001)))
    assert len(found.series.at_ms) <= 400
    assert max(found.series.rss_mb) == 99.0
    assert found.samples == 3_000


def test_a_last_sample_right_after_another_makes_no_peak_of_a_tick():
    found = used(
        sample(1, cpuMs=0),
        Sample(at_ns=1_010_000_000, values={"cpuMs": 10.0}),
        sample(2, cpuMs=20),
    )
    assert found.peak_cpu_cores == pytest.approx(10 / 990)


@pytest.mark.parametrize("is_watched", [True, False])
def test_a_provider_that_went_down_is_said_first_although_every_trial_has_a_result(is_watched):
    trials = (
        trial(run=1),
        trial(run=2, response=failure("http_502")),
        trial(run=3, response=failure("connect_reset")),
        trial(run=4, response=failure("http_502")),
    )
    more = (Gateway(),) if is_watched else ()
    document = build_document(ledger(trials, *more, footer(reason="provider_down", exit_code=5)))
    first = document.trust[0]
    assert (first.code, first.level) == ("provider_down", "broken")
    assert first.text.startswith(
        f"The provider behind {FAST.id} failed: the last 3 requests ended in `http_502`, "
        "`connect_reset`."
    )
    assert ("The gateway was watched and lived" in first.text) is is_watched


def test_an_endpoint_that_is_gone_is_not_told_as_its_provider_s_failure():
    gone = tuple(trial(run=n, response=failure("connect_refused")) for n in (2, 3, 4))
    first = build_document(ledger((trial(run=1), *gone), footer(reason="provider_down"))).trust[0]
    assert first.text.startswith(
        f"{FAST.id} is gone: the last 3 requests ended in `connect_refused`."
    )


def test_who_failed_only_in_tls_is_told_what_is_wrong_and_that_waiting_does_not_mend_it():
    bad = failure("tls_error", message="no TLS connection to h:1: certificate: it expired")
    trials = tuple(trial(run=n, response=bad) for n in (1, 2, 3))
    first = build_document(ledger(trials, footer(reason="provider_down"))).trust[0]
    assert "`tls_error` (no TLS connection to h:1: certificate: it expired)" in first.text
    assert "`--cacert FILE`" in first.text


def test_of_several_targets_only_that_of_the_failed_provider_is_named():
    trials = (trial(target=FAST), *(trial(SLOW, run=n, response=failure()) for n in (2, 3, 4)))
    document = build_document(ledger(trials, footer(reason="provider_down"), targets=(FAST, SLOW)))
    told = [caveat.text for caveat in document.trust if caveat.code == "provider_down"]
    assert len(told) == 1
    assert SLOW.id in told[0]
