"""``fixed_output_stream``: a long answer cut at a set length, to time how it streams."""

from bench.cases.timed_prose import Timed, timed_case

FIXED_OUTPUT_STREAM = timed_case(
    Timed(
        id="fixed_output_stream",
        name="Fixed-length stream",
        dimension="streaming",
        max_tokens=512,
        runs=5,
        warmup_runs=1,
        reasoning_effort="none",
        description="streams 512 tokens of prose: time to first token, gaps, speed, buffering",
    )
)

CASES = (FIXED_OUTPUT_STREAM,)
