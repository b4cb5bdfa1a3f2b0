"""The figures against numpy and scipy, which share no line with ours."""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.special import comb

from bench.model.summary import TargetSummary
from bench.model.trial import Trial, Usage
from bench.resampling import bootstrap_over_cases, bootstrap_ratio
from bench.stats import (
    adjusted,
    entropy_bits,
    modal_share,
    percentile_interval,
    summarize_numbers,
    wilson,
)
from bench.summary import Evidence, summarize
from bench.summary.agent import pass_estimates
from tests.sample_documents import (
    EXTRACTION,
    FAST,
    PARAPHRASE,
    PATH,
    SLOW,
    STREAM,
    failure,
    response,
    timing,
    trial,
    verdict,
)

values = st.lists(st.floats(0.001, 1e7), min_size=1, max_size=400)


# -- numbers -------------------------------------------------------------------------------------


@given(values)
def test_numeric_summaries_are_numpys(found):
    summary = summarize_numbers(found)
    assert summary is not None
    array = np.array(found)
    assert summary.mean == pytest.approx(float(array.mean()), rel=1e-9)
    for fraction, own in (
        (50, summary.p50),
        (90, summary.p90),
        (95, summary.p95),
        (99, summary.p99),
    ):
        if own is not None:
            wanted = float(np.percentile(array, fraction, method="linear"))
            assert own == pytest.approx(wanted, rel=1e-9)
    mad = float(scipy_stats.median_abs_deviation(array))
    assert summary.median_absolute_deviation == pytest.approx(mad, rel=1e-9, abs=1e-6)
    if len(found) > 1:
        deviation = float(array.std(ddof=1))
        assert summary.standard_deviation == pytest.approx(deviation, rel=1e-6, abs=1e-6)
        variation = float(scipy_stats.variation(array, ddof=1))
        assert summary.coefficient_of_variation == pytest.approx(variation, rel=1e-6, abs=1e-9)


@given(st.integers(1, 2_000), st.data())
def test_rates_have_scipys_wilson_interval(of, data):
    hits = data.draw(st.integers(0, of))
    wanted = scipy_stats.binomtest(hits, of).proportion_ci(0.95, method="wilson")
    assert wilson(hits, of) == pytest.approx((wanted.low, wanted.high), abs=1e-9)


@pytest.mark.parametrize("fraction", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("count", [6, 36, 37, 72, 100, 368, 1_000, 3_333])
def test_percentile_intervals_leave_at_most_a_fortieth_of_the_binomial_on_either_side(
    count, fraction
):
    found = percentile_interval(list(map(float, range(1, count + 1))), fraction)
    below = scipy_stats.binom(count, fraction)
    if found is None:
        # No pair of ranks is enough: one tail is too heavy already beyond the extreme values.
        assert max(below.pmf(0), below.pmf(count)) > 0.025
        return
    low, high = map(int, found)  # ranks, from 1: the values are their own ranks
    assert below.cdf(low - 1) <= 0.025 < below.cdf(low)
    assert below.sf(high - 1) <= 0.025 < below.sf(high - 2)


@given(values, st.integers(0, 50))
def test_percentiles_with_failures_are_numpys_nearest_rank_with_infinities(found, failures):
    own = adjusted(found, failures)
    assert own is not None
    padded = np.array([*found, *[math.inf] * failures])
    for fraction, at, failed in (
        (50, own.adj_p50, own.adj_p50_failed),
        (90, own.adj_p90, own.adj_p90_failed),
        (95, own.adj_p95, own.adj_p95_failed),
        (99, own.adj_p99, own.adj_p99_failed),
    ):
        # An exact rank: 0.9 x 10 in floating point is a little more than 9 for numpy.
        rank = math.ceil(Fraction(fraction, 100) * len(padded))
        wanted = float(np.sort(padded)[rank - 1])
        assert (math.inf if at is None else at) == wanted
        assert failed == math.isinf(wanted)


@pytest.mark.parametrize("seed", range(3))
def test_bootstraps_over_cases_agree_with_scipys(seed):
    chance = np.random.default_rng(seed)
    cases = {f"c{n}": list(chance.random(n % 3 + 1) < 0.6) for n in range(30)}
    hits = np.array([sum(case) for case in cases.values()], dtype=float)
    sizes = np.array([len(case) for case in cases.values()], dtype=float)
    wanted = scipy_stats.bootstrap(
        (hits, sizes),
        lambda part, whole, axis=-1: part.sum(axis=axis) / whole.sum(axis=axis),
        paired=True,
        n_resamples=9_999,
        method="percentile",
        rng=chance,
    ).confidence_interval
    # Two samples of one distribution: 2,000 rounds place its ends to about 0.01.
    own = bootstrap_over_cases({name: list(map(bool, case)) for name, case in cases.items()})
    assert own == pytest.approx((wanted.low, wanted.high), abs=0.03)
    parts = {name: (float(sum(case)), float(len(case))) for name, case in cases.items()}
    assert bootstrap_ratio(parts) == own


@given(st.lists(st.sampled_from("abcde"), min_size=2, max_size=60))
def test_entropy_and_the_commonest_share_are_scipys(answers):
    counts = np.array(list(Counter(answers).values()))
    assert entropy_bits(answers) == pytest.approx(float(scipy_stats.entropy(counts, base=2)))
    mode = scipy_stats.mode([ord(answer) for answer in answers])
    assert modal_share(answers) == pytest.approx(float(mode.count / len(answers)))


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=12), min_size=1, max_size=6))
def test_pass_estimates_are_what_drawing_without_return_gives(verdicts):
    for found in pass_estimates(verdicts):
        able = [(len(runs), sum(runs)) for runs in verdicts if len(runs) >= found.k]
        # Of k runs drawn from n without return, c of them right, how many are right: hypergeometric.
        drawn = [scipy_stats.hypergeom(n, c, found.k) for n, c in able]
        assert found.pass_at_k == pytest.approx(float(np.mean([d.sf(0) for d in drawn])))
        assert found.pass_hat_k == pytest.approx(
            float(np.mean([comb(c, found.k, exact=True) / comb(n, found.k) for n, c in able]))
        )


# -- whole summaries -----------------------------------------------------------------------------

CASES = (PATH, PARAPHRASE, EXTRACTION, STREAM)


def random_run(seed: int) -> tuple[Trial, ...]:
    """Return 120 trials of two targets with every kind of end."""
    chance = np.random.default_rng(seed)
    made = []
    for number in range(120):
        target = (FAST, SLOW)[number % 2]
        case = CASES[int(chance.integers(4))]
        usage = Usage(
            prompt_tokens=int(chance.integers(1, 500)),
            completion_tokens=int(chance.integers(1, 500)),
            reasoning_tokens=0,
        )
        ttft = float(chance.gamma(3.0, 90.0))
        answered = response(
            timing(ttft, ttft + float(chance.gamma(2.0, 300.0))),
            usage=usage if chance.random() < 0.9 else None,
            finish_reason="length" if chance.random() < 0.2 else "stop",
            connection="warm" if chance.random() < 0.8 else "cold",
        )
        is_right = bool(chance.random() < 0.6)
        fields: dict[str, Any] = {
            "run": number,
            "prompt_hash": f"{int(chance.integers(6)):064x}",
            "response": answered if chance.random() < 0.85 else failure(),
            "estimated_cost_usd": float(chance.random()) / 1_000,
        }
        if case.kind == "quality" and fields["response"] is answered:
            said = "42" if is_right else str(int(chance.integers(3)))
            stated = float(chance.random()) if chance.random() < 0.5 else None
            fields["evaluation"] = verdict(is_right, said, confidence=stated)
        made.append(trial(target, case, **fields))
    return tuple(made)


@pytest.fixture(params=range(4))
def run(request: pytest.FixtureRequest) -> tuple[Trial, ...]:
    return random_run(request.param)


def summary_of(trials: tuple[Trial, ...]) -> TargetSummary:
    evidence = Evidence(targets=(FAST, SLOW), cases=CASES, trials=trials, reference=SLOW.id)
    return summarize(evidence).targets[0]


def column(items: Iterable[float | None]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.array([math.nan if item is None else item for item in items], dtype=float)


def test_a_targets_quality_is_what_arrays_of_its_trials_give(run):
    quality = summary_of(run).quality
    own = [t for t in run if t.target_id == FAST.id and t.case_id != STREAM.id]
    judged = [t for t in own if t.evaluation is not None]
    right = column(t.evaluation.passed for t in judged if t.evaluation)
    stated = column(t.evaluation.confidence for t in judged if t.evaluation)
    has = ~np.isnan(stated)
    names = np.array([t.case_id for t in judged])
    assert quality.score == pytest.approx(right.mean())
    assert quality.score_of_asked == pytest.approx(right.sum() / len(own))
    assert quality.case_mean_score == pytest.approx(
        np.mean([right[names == name].mean() for name in np.unique(names)])
    )
    assert quality.mean_confidence == pytest.approx(np.nanmean(stated))
    assert quality.brier_score == pytest.approx(((stated - right)[has] ** 2).mean())
    assert quality.overconfidence == pytest.approx(stated[has].mean() - right[has].mean())
    groups: dict[tuple[str, str | None], list[str]] = {}
    for t in judged:
        assert t.evaluation is not None
        groups.setdefault((t.case_id, t.prompt_hash), []).append(t.evaluation.answer or "")
    shares = [max(Counter(g).values()) / len(g) for g in groups.values() if len(g) > 1]
    bits = [
        scipy_stats.entropy(list(Counter(g).values()), base=2)
        for g in groups.values()
        if len(g) > 1
    ]
    assert quality.same_instance_consistency == pytest.approx(np.mean(shares))
    assert quality.same_instance_entropy == pytest.approx(np.mean(bits))


def test_a_targets_speed_is_what_arrays_of_its_trials_give(run):
    performance = summary_of(run).performance
    own = [t for t in run if t.target_id == FAST.id and t.case_id == STREAM.id]
    whole = [t for t in own if t.response.error is None]
    warm = [t for t in whole if t.response.connection == "warm"]
    ttft = column(t.response.timing.first_content_ms for t in whole)
    assert performance.ttft_ms is not None
    assert performance.ttft_ms.p50 == pytest.approx(np.median(ttft))
    assert performance.ttft_ms.standard_deviation == pytest.approx(ttft.std(ddof=1))
    assert performance.warm is not None
    assert performance.warm.ttft_ms is not None
    assert performance.warm.ttft_ms.mean == pytest.approx(
        column(t.response.timing.first_content_ms for t in warm).mean()
    )
    gaps = np.concatenate([t.response.timing.itl_ms or () for t in whole])
    assert performance.itl_ms is not None
    assert performance.itl_ms.p90 == pytest.approx(np.percentile(gaps, 90))


def test_a_targets_reliability_and_cost_are_what_arrays_of_its_trials_give(run):
    summary = summary_of(run)
    own = [t for t in run if t.target_id == FAST.id]
    arrived = np.array([t.response.error is None for t in own])
    cut = np.array([t.response.finish_reason == "length" for t in own])
    asked = np.array([t.case_id != STREAM.id for t in own])
    costs = column(t.estimated_cost_usd for t in own)
    right = sum(t.evaluation is not None and t.evaluation.passed is True for t in own)
    assert summary.reliability.success_rate == pytest.approx(arrived.mean())
    assert summary.reliability.truncated_rate == pytest.approx(cut.mean())
    assert summary.reliability.truncated_answers is not None
    assert summary.reliability.truncated_answers.rate == pytest.approx(
        (cut & asked & arrived).sum() / (asked & arrived).sum()
    )
    assert summary.efficiency.estimated_cost_usd == pytest.approx(costs.sum())
    assert summary.efficiency.quality_cost_per_correct_usd == pytest.approx(
        costs[asked].sum() / right
    )


def test_agreement_with_the_reference_is_what_a_table_of_answers_gives(run):
    # Runs are numbered through, so the two targets are set side by side by renumbering.
    renumbered: dict[tuple[str, str], int] = {}
    paired = []
    for t in run:
        key = (t.target_id, t.case_id)
        renumbered[key] = renumbered.get(key, 0) + 1
        paired.append(trial_with_run(t, renumbered[key]))
    found = summary_of(tuple(paired))
    table = {(t.target_id, t.case_id, t.run): t.evaluation for t in paired if t.evaluation}
    keys = [k[1:] for k in table if k[0] == SLOW.id and (FAST.id, *k[1:]) in table]
    same = column(table[FAST.id, *k].answer == table[SLOW.id, *k].answer for k in keys)
    off = np.array([table[SLOW.id, *k].passed is False for k in keys])
    assert found.reference_agreement is not None
    assert found.reference_agreement.rate == pytest.approx(same.mean())
    assert found.fingerprint is not None
    assert found.fingerprint.agreement == pytest.approx(same.mean())
    assert found.fingerprint.reference_error_agreement == pytest.approx(same[off].mean())


def trial_with_run(one: Trial, run: int) -> Trial:
    fields = {name: getattr(one, name) for name in one.__struct_fields__}
    return Trial(**fields | {"run": run, "id": f"{one.target_id}|{one.case_id}|r{run}"})
