"""What other words for the same task do to the answer."""

from collections.abc import Mapping, Sequence

from bench.model.case import CaseInfo
from bench.model.summary import RobustnessSummary
from bench.model.trial import Trial
from bench.resampling import bootstrap_ratio
from bench.stats import mean_of, rate
from bench.summary.selection import by_key, judged, passed


def robustness_drop(trials: Sequence[Trial], cases: Mapping[str, CaseInfo]) -> float | None:
    """Return the mean over variants of (score of the canonical case minus the variant's)."""
    scores = {
        case_id: sum(map(passed, group)) / len(group)
        for case_id, group in by_key(judged(trials, cases), lambda trial: trial.case_id).items()
    }
    return mean_of(
        scores[case.variant_of] - scores[case.id]
        for case in cases.values()
        if case.variant_of in scores and case.id in scores
    )


def robustness(trials: Sequence[Trial], cases: Mapping[str, CaseInfo]) -> RobustnessSummary | None:
    """Compare the verdicts on one instance in two wordings; ``None`` where there is no such pair.

    Both wordings of a run are drawn from one seed, so they are one task. The interval resamples
    instances, because all variants of one share it.
    """
    verdicts = {(t.case_id, t.run): (passed(t), t.seed) for t in judged(trials, cases)}
    pairs: list[tuple[str, bool, bool]] = []
    for (case_id, run), (is_right, seed) in verdicts.items():
        canonical = cases[case_id].variant_of
        plain = verdicts.get((canonical, run)) if canonical is not None else None
        if plain is not None and plain[1] == seed:
            pairs.append((f"{canonical} {run}", plain[0], is_right))
    if not pairs:
        return None
    drops: dict[str, tuple[float, float]] = {}
    for instance, plain_right, other_right in pairs:
        drop, count = drops.get(instance, (0.0, 0.0))
        drops[instance] = drop + plain_right - other_right, count + 1
    return RobustnessSummary(
        pairs=len(pairs),
        drop=mean_of(plain - other for _, plain, other in pairs),
        drop_interval=bootstrap_ratio(drops),
        changed=rate(sum(plain != other for _, plain, other in pairs), len(pairs)),
    )
