"""Service level objectives: what one request must keep to be inside.

`ttft=500ms` bounds a time of the request, `itl.p99=50ms` a statistic over that request's own gaps,
`tokens-per-s=20` is a lower bound. A failed request and a missing figure are never inside.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.durations import duration_ms
from bench.load.condition import near_name, read_condition
from bench.load.levels import Typed
from bench.model.trial import Timing, Trial
from bench.stats import percentile

_TIMES: dict[str, Callable[[Timing], float | None]] = {
    "ttft": lambda timing: timing.first_content_ms,
    "first-token": lambda timing: timing.first_token_ms,
    "total": lambda timing: timing.total_ms,
    "tpot": lambda timing: timing.tpot_ms,
}
_SPEED = "tokens-per-s"
_GAPS = "itl"
METRICS = (*_TIMES, _GAPS, _SPEED)
_PLAIN = re.compile(r"[0-9]{1,9}(?:\.[0-9]+)?")
_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]+)?)")
_HUNDRED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Slo(Typed):
    """One bound on one request."""

    metric: str
    statistic: str
    """Of the gaps: ``p99``, ``max``, ``mean``; empty for the others."""
    bound: float
    """Milliseconds; tokens per second for the one lower bound."""

    @property
    def needs_stream(self) -> bool:
        """Whether answers that come in one piece have no such figure."""
        return self.metric != "total"

    def is_kept(self, trial: Trial) -> bool:
        """Return whether ``trial`` keeps the bound; one without the figure does not."""
        if trial.response.error is not None:
            return False
        value = self._value(trial.response.timing)
        if value is None:
            return False
        return value >= self.bound if self.metric == _SPEED else value <= self.bound

    def _value(self, timing: Timing) -> float | None:
        if self.metric == _SPEED:
            return timing.visible_tokens_per_second
        if self.metric != _GAPS:
            return _TIMES[self.metric](timing)
        return _of_gaps(sorted(timing.itl_ms or ()), self.statistic)


def _of_gaps(gaps: Sequence[float], statistic: str) -> float | None:
    if not gaps:
        return None
    match statistic:
        case "mean":
            return sum(gaps) / len(gaps)
        case "max":
            return gaps[-1]
        case _:
            return percentile(gaps, float(statistic[1:]) / _HUNDRED)


def read_slo(text: str) -> Slo:
    """Return the objective that ``text`` says.

    Raises:
        ValueError: What is needed instead, with near matches.
    """
    condition = read_condition(text)
    metric, statistic = condition.metric, condition.statistic
    if condition.bound is None:
        raise ValueError("an objective such as `ttft=500ms` or `itl.p99=50ms` is needed")
    if metric not in METRICS and "." in metric:
        metric, _, statistic = metric.partition(".")
    if metric not in METRICS:
        near = near_name(metric, METRICS)
        meant = f"; did you mean `{near}`?" if near else ""
        message = f"one of {', '.join(f'`{one}`' for one in METRICS)} is needed before `=`{meant}"
        raise ValueError(message)
    if statistic and metric != _GAPS:
        message = (
            f"one request has one {metric}, so `{metric}` takes no `.{statistic}`; over the whole "
            "run the reports show percentiles"
        )
        raise ValueError(message)
    if metric == _GAPS:
        statistic = _statistic(statistic or "max")
    return Slo(
        text=text.strip(),
        metric=metric,
        statistic=statistic,
        bound=_bound(metric, condition.bound),
    )


def kept_by(slos: Sequence[Slo], trial: Trial) -> tuple[bool, ...]:
    """Return for each objective whether ``trial`` keeps it."""
    return tuple([slo.is_kept(trial) for slo in slos])


def _statistic(text: str) -> str:
    if text in {"max", "mean"} or _PERCENTILE.fullmatch(text):
        return text
    message = f"`itl.{text}` is unknown: `itl.p99` (any percentile), `itl.max` or `itl.mean`"
    raise ValueError(message)


def _bound(metric: str, text: str) -> float:
    if metric == _SPEED:
        value = float(text) if _PLAIN.fullmatch(text) else 0.0
    else:
        value = duration_ms(text)
    if not value > 0:
        message = f"a value above 0 is needed behind `{metric}=`"
        raise ValueError(message)
    return value
