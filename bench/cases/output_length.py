"""``output_length_32|256|1024``: the same prose cut at three lengths."""

from bench.cases.timed_prose import Timed, timed_case

RUNS_BY_LENGTH = {32: 10, 256: 10, 1_024: 5}

CASES = tuple(
    timed_case(
        Timed(
            id=f"output_length_{tokens}",
            name=f"Output of {tokens:,} tokens",
            dimension="output length",
            max_tokens=tokens,
            runs=runs,
            description=f"streams {tokens:,} tokens: how total time and speed grow with length",
        )
    )
    for tokens, runs in RUNS_BY_LENGTH.items()
)
