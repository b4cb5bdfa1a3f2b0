"""The options that shape each request. Data only."""

from bench.cli.option_row import REQUEST, OptionRow

REQUEST_ROWS = (
    OptionRow(
        section=REQUEST,
        spellings=("--reasoning-effort", "--reasoning"),
        field="reasoning_effort",
        metavar="LEVEL",
        help="Instead of the case's own.",
    ),
    OptionRow(
        section=REQUEST,
        spellings=("--max-tokens",),
        field="max_tokens",
        metavar="N",
        help="Instead of the case's own.",
    ),
    OptionRow(
        section=REQUEST,
        spellings=("--max-turns",),
        field="max_turns",
        metavar="N",
        help="Most turns of one coding task, which also ends after 30 minutes. Default: 24.",
    ),
    OptionRow(
        section=REQUEST,
        spellings=("--temperature",),
        field="temperature",
        metavar="X",
        help="Instead of the case's own.",
    ),
    OptionRow(
        section=REQUEST,
        spellings=("--timeout",),
        field="timeout",
        metavar="TIME",
        help="Of one request. Default: 60s.",
    ),
    OptionRow(
        section=REQUEST,
        spellings=("--retry-429",),
        field="retry_429",
        metavar="N",
        help="Send a request that HTTP 429 refused up to N times again, as Retry-After says; each "
        "refusal stays in the figures. Default: 0.",
    ),
    OptionRow(
        section=REQUEST,
        spellings=("--stream/--no-stream",),
        field="stream",
        help="Without streaming there is no TTFT. Default: stream.",
    ),
    OptionRow(
        section=REQUEST,
        spellings=("--body",),
        field="body",
        metavar="FILE",
        help="Send this file byte for byte instead of the cases' requests.",
    ),
    OptionRow(
        section=REQUEST,
        spellings=("--allow-cache",),
        field="allow_cache",
        help="Let the gateway's response cache answer.",
    ),
    OptionRow(
        section=REQUEST,
        spellings=("--allow-fallback",),
        field="allow_fallback",
        help="Let another provider answer than the one asked.",
    ),
    OptionRow(
        section=REQUEST,
        spellings=("--tag/--no-tag",),
        field="tag",
        help="Send run and trial id along, to find them in a bill. Default: tag.",
    ),
)
