"""``concurrency_1|2|4|8|16``: so many requests in flight all the time; the points of a load curve."""

from bench.cases.timed_prose import Timed, timed_case

LEVELS = (1, 2, 4, 8, 16)
FEWEST_RUNS = 20
WAVES = 4
"""Runs per request in flight, so that filling and draining stay the small part."""
MAX_TOKENS = 128
"""Long enough for answers to overlap, short enough for 64 of them to be affordable."""

CASES = tuple(
    timed_case(
        Timed(
            id=f"concurrency_{level}",
            name=f"{level} at once",
            dimension="concurrency",
            max_tokens=MAX_TOKENS,
            runs=max(FEWEST_RUNS, WAVES * level),
            warmup_runs=level,
            concurrency=level,
            is_load_point=True,
            description=f"keeps {level} request{'s' * (level > 1)} in flight: speed and success "
            "under load",
        )
    )
    for level in LEVELS
)
