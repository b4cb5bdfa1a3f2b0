"""Whatever a journal holds: a document without NaN, rates that are ones, counts that add up."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.document import build_document, encode_document, read_document
from bench.ledger import collect
from bench.model.document import Document
from bench.model.footer import Footer
from bench.model.header import NewLimits, Resumed
from bench.model.journal_record import JournalRecord
from bench.model.steps import Started, TrialDone
from bench.model.summary import Rate
from bench.model.surroundings import Incident
from bench.model.trial import Timing, Usage
from bench.report import REPORTS, headline, terminal_summary
from tests.document_schema import check_document
from tests.run_stage import ENVIRONMENT
from tests.sample_documents import (
    EXTRACTION,
    FAST,
    PARAPHRASE,
    PATH,
    SLOW,
    STREAM,
    chunks,
    failure,
    footer,
    header,
    planned,
    response,
    timing,
    trial,
    verdict,
)
from tests.sample_load import FOUR, ONE

TARGETS = (FAST, SLOW)
CASES = (PATH, PARAPHRASE, EXTRACTION, STREAM, ONE, FOUR)
PLAN = tuple(one for case in CASES for target in TARGETS for one in planned(case, target))
BY_ID = {case.id: case for case in CASES}

odd = st.sampled_from([None, 0.0, 1e-9, 0.5, 35.0, 1e12, float("nan"), float("inf")])
tokens = st.sampled_from([None, 0, 1, 80, 10**9])
times = st.builds(
    Timing,
    headers_ms=odd,
    first_content_ms=odd,
    first_token_ms=odd,
    total_ms=odd,
    generation_ms=odd,
    visible_tokens_per_second=odd,
    buffered=st.sampled_from([None, True, False]),
    held_back=st.sampled_from([None, True, False]),
    coalesced_share=st.sampled_from([None, 0.0, 1.0]),
    itl_ms=st.sampled_from([None, (), (0.0,), (1.0, 1e12)]),
    tpot_ms=odd,
    client_lag_ms=odd,
)
usages = st.none() | st.builds(
    Usage,
    prompt_tokens=tokens,
    completion_tokens=tokens,
    reasoning_tokens=tokens,
    cached_prompt_tokens=tokens,
)
answers = st.builds(
    response,
    times | st.just(timing()),
    usage=usages,
    connection=st.sampled_from([None, "warm", "cold"]),
    finish_reason=st.sampled_from([None, "stop", "length", "tool_calls"]),
    cache_hit=st.sampled_from([None, True]),
    fallback=st.sampled_from([None, True]),
    gateway_cost_usd=st.sampled_from([None, 0.0, 0.25]),
    stream_chunks=st.sampled_from([(), chunks(timing())]),
) | st.sampled_from(
    [
        failure(),
        failure("total_timeout", seed_code="TimeoutError"),
        failure("connect_refused", seed_code="request_error"),
        failure("rate_limited", seed_code="http_429", status=429),
    ]
)
verdicts = st.sampled_from(
    [
        None,
        verdict(),
        verdict(confidence=0.9),
        verdict(False, "41", confidence=0.0),
        verdict(False, ""),
        verdict(None, None),
        verdict(True, metrics={"instructionsPassed": 2, "instructionsTotal": 2}),
        verdict(False, "x", metrics={"instructionsPassed": 0, "instructionsTotal": 0}),
    ]
)


@st.composite
def trials(draw: st.DrawFn) -> TrialDone:
    """A record of a planned trial, as it might have ended."""
    plan = draw(st.sampled_from(PLAN))
    target = FAST if plan.target_id == FAST.id else SLOW
    answer = draw(answers)
    started = draw(st.sampled_from([0.0, 10.0, 2_000.0]))
    made = trial(
        target,
        BY_ID[plan.case_id],
        plan.run,
        warmup=plan.warmup,
        seed=plan.seed,
        response=answer,
        evaluation=draw(verdicts),
        invalidated=draw(st.sampled_from([None, None, None, "gateway_killed", "cancelled"])),
        pin_violated=draw(st.sampled_from([None, None, True])),
        outcome=draw(st.sampled_from(["completed", "completed", "failed", "cancelled"])),
        prompt_hash=draw(st.sampled_from([None, "a", "b"])),
        estimated_cost_usd=draw(st.sampled_from([None, 0.0, 0.001])),
        computed_cost_usd=draw(st.sampled_from([None, 0.0, 0.002])),
        started_offset_ms=started,
        finished_offset_ms=started + draw(st.sampled_from([0.0, 1.0, 900.0])),
    )
    return TrialDone(trial=made)


starts = st.builds(
    Started,
    trial_id=st.sampled_from([one.id for one in PLAN]),
    offset_ms=st.sampled_from([0.0, 500.0, 3_000.0]),
    reserve_usd=st.sampled_from([None, 0.0, 0.01]),
)
others: st.SearchStrategy[JournalRecord] = st.sampled_from(
    [
        footer(),
        footer(reason="budget", offset_ms=10.0),
        Footer(finished_at="2026-11-30T09:00:01.000Z", offset_ms=1.0, reason="gateway", exit_code=4),
        Resumed(at="2026-11-30T10:00:00.000Z", offset_ms=1_000.0, environment=ENVIRONMENT, limits=NewLimits()),
        Incident(
            incident_class="gateway_killed",
            at="2026-11-30T09:00:03.100Z",
            at_ns=1,
            summary="killed",
            touched_trials=(PLAN[0].id, PLAN[7].id, "nobody's"),
        ),
    ]
)  # fmt: skip
records = st.lists(trials() | starts | others, max_size=40)


def document_of(found: list[JournalRecord], *, targets: Any = TARGETS) -> Document:
    return build_document(collect([header(targets, CASES), *found]))


def rates(record: object) -> Iterator[Rate]:
    if isinstance(record, Rate):
        yield record
    if isinstance(record, msgspec.Struct):
        for name in record.__struct_fields__:
            yield from rates(getattr(record, name))
    elif isinstance(record, tuple):
        for item in record:
            yield from rates(item)


SHARES = {
    "successRate", "timeoutRate", "rateLimitRate", "truncatedRate", "malformedStreamRate", "usageMissingRate",
    "bufferedRate", "score", "scoreOfAsked", "caseMeanScore", "firstPassScore", "instructionScore",
    "consistencyRate", "sameInstanceConsistency", "meanConfidence", "brierScore", "agreement",
    "referenceErrorAgreement", "rarityWeightedErrorAgreement", "categorySimilarity", "rate",
}  # fmt: skip
BOTH_WAYS = {"robustnessDrop", "drop", "overconfidence"}


def check_shares(value: object) -> None:
    if isinstance(value, list):
        for item in value:
            check_shares(item)
    if isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, int | float) and name in SHARES | BOTH_WAYS:
                assert (-1 if name in BOTH_WAYS else 0) <= inner <= 1, (name, inner)
            check_shares(inner)


def check_counts(document: Document) -> None:
    for target in document.summary.targets:
        piles = target.attempted + target.invalidated + target.cancelled + target.not_run
        assert piles == target.planned
        assert target.valid <= target.succeeded <= target.attempted
        quality, performance = target.quality, target.performance
        assert quality.passed + quality.cut_short <= quality.attempted
        assert quality.confident <= quality.attempted
        parts = (performance.warm, performance.cold, performance.prompt_cached)
        assert sum(part.trials for part in parts if part is not None) <= performance.trials
        assert (
            sum(target.reliability.errors_by_cause.values()) == target.attempted - target.succeeded
        )
        own = [case for case in document.summary.cases if case.target_id == target.target_id]
        assert sum(case.attempted for case in own) == target.attempted
        assert sum(case.planned or 0 for case in own) == target.planned
        assert sum(case.quality.attempted for case in own) == quality.attempted
        assert sum(case.quality.passed for case in own) == quality.passed
    done = document.completeness
    assert done.planned == sum(part.planned or 0 for part in done.targets)
    for part in done.targets:
        assert (
            part.planned == part.done + part.invalidated + part.cancelled + part.lost + part.not_run
        )
    assert len({trial.id for trial in document.trials}) == len(document.trials)


@given(records)
@settings(max_examples=60)
def test_any_journal_gives_a_document_whose_numbers_are_numbers(found):
    document = document_of(found)
    data = encode_document(document)
    decoded = json.loads(data, parse_constant=pytest.fail)
    check_document(data)
    check_shares(decoded["summary"])
    for one in rates(document.summary):
        assert 0 <= one.hits <= one.of
        assert (one.rate is None) == (one.of == 0) == (one.interval is None)
        if one.rate is not None and one.interval is not None:
            low, high = one.interval
            assert 0 <= low <= one.rate <= high <= 1
    check_counts(document)
    again = encode_document(read_document(data))  # now every whole number of a float has its point
    assert encode_document(read_document(again)) == again


@given(records)
@settings(max_examples=15)
def test_any_journal_has_every_report(found):
    document = document_of(found)
    for report in REPORTS.values():
        text = report(document)
        assert "nan" not in text.lower().split()
        assert "Infinity" not in text
    assert headline(document)
    assert terminal_summary(document, width=100)


@pytest.mark.parametrize(
    "found",
    [
        pytest.param([], id="nothing"),
        pytest.param([TrialDone(trial=trial(run=1))], id="one trial"),
        pytest.param([TrialDone(trial=trial(run=r, response=failure())) for r in (1, 2)], id="all failed"),
        pytest.param([TrialDone(trial=trial(run=1, response=response(usage=None)))], id="no usage"),
        pytest.param([TrialDone(trial=trial(run=r, pin_violated=True)) for r in (1, 2)], id="all excluded"),
        pytest.param([TrialDone(trial=trial(run=r, invalidated="gateway_killed")) for r in (1, 2)], id="all set aside"),
        pytest.param([TrialDone(trial=trial(run=r, outcome="cancelled")) for r in (1, 2)], id="all cancelled"),
        pytest.param([Started(trial_id=PLAN[0].id, offset_ms=1.0, reserve_usd=None)], id="one lost"),
    ],
)  # fmt: skip
def test_little_is_no_zero_that_means_unknown(found):
    document = document_of(list(found), targets=(FAST,))
    for report in REPORTS.values():
        assert report(document)
    target = document.summary.targets[0]
    check_counts(document)
    if target.quality.attempted == 0:
        assert target.quality.score is None
        assert target.quality.case_mean_score is None
        assert target.quality.first_pass_score is None
    if target.attempted == 0:
        assert target.reliability.success_rate is None
        assert target.efficiency.estimated_cost_usd is None
        assert target.efficiency.usage_missing_rate is None
        assert target.requests_per_second is None
    assert target.performance.ttft_ms is None
    assert target.fingerprint is None
    assert target.reference_agreement is None
    assert target.robustness is None
    assert target.quality.brier_score is None
