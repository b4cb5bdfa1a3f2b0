"""Load curves for tests: one trial per row, few words, no IO."""

from __future__ import annotations

from typing import Any

from bench.model.case import CaseInfo
from bench.model.target import Target
from bench.model.trial import Trial
from tests.sample_documents import FAST, case_info, failure, response, timing, trial


def level(concurrency: int, **fields: Any) -> CaseInfo:
    """Return the case that keeps so many requests in flight."""
    described: dict[str, Any] = {
        "kind": "performance",
        "category": "performance",
        "dimension": "concurrency",
        "difficulty": "easy",
        "concurrency": concurrency,
        "is_load_point": True,
    }
    return case_info(f"concurrency_{concurrency}", **described | fields)


def wave(
    case: CaseInfo,
    starts_ms: list[float],
    *,
    total_ms: float,
    ttft_ms: float = 50.0,
    target: Target = FAST,
    **fields: Any,
) -> tuple[Trial, ...]:
    """Return whole answers that began at ``starts_ms`` and took ``total_ms`` each."""
    return tuple(
        trial(
            target,
            case,
            run,
            **{
                "response": response(timing(ttft_ms, total_ms)),
                "started_offset_ms": start,
                "finished_offset_ms": start + total_ms,
            }
            | fields,
        )
        for run, start in enumerate(starts_ms, start=1)
    )


def failed(case: CaseInfo, run: int, start_ms: float) -> Trial:
    """Return a request that failed after 35 ms."""
    return trial(
        FAST,
        case,
        run,
        response=failure("http_503"),
        started_offset_ms=start_ms,
        finished_offset_ms=start_ms + 35.0,
    )


ONE, TWO, FOUR = level(1), level(2), level(4)
LEVELS = (ONE, TWO, FOUR)


def slowing_trials() -> tuple[Trial, ...]:
    """Return a target that is as fast at two as at one, and takes three times as long at four."""
    return (
        *wave(ONE, [0.0, 500.0], total_ms=500.0),
        # A pause of 9 s lies between two blocks, in which another target was asked.
        *wave(TWO, [2_000.0, 2_000.0, 11_500.0, 11_500.0], total_ms=500.0, ttft_ms=60.0),
        *wave(FOUR, [20_000.0] * 4, total_ms=1_500.0, ttft_ms=200.0),
    )
