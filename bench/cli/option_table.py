"""The table of measuring options: spelling, heading and help of each. Data only."""

from dataclasses import dataclass
from typing import Any

WHAT = "What is measured"
HOW_OFTEN = "How often and how long"
REQUEST = "The request"
ENDPOINT = "Endpoint and key"
MONEY = "Money"
RESULTS = "Results"
TALK = "Talk and help"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionRow:
    """One option: its spellings (the setting's name first), section, metavar and help."""

    section: str
    spellings: tuple[str, ...]
    field: str
    metavar: str | None = None
    help: str


ROWS = (
    OptionRow(
        section=WHAT,
        spellings=("--model",),
        field="model",
        metavar="ID",
        help="One more model, as the gateway names it. Repeatable.",
    ),
    OptionRow(
        section=WHAT,
        spellings=("--mapping",),
        field="mapping",
        metavar="LIST",
        help="Which providers' offers: provider, provider:region, provider:*, *. Default: all active.",
    ),
    OptionRow(
        section=WHAT,
        spellings=("--include-deactivated",),
        field="include_deactivated",
        help="Measure deactivated mappings too.",
    ),
    OptionRow(
        section=WHAT,
        spellings=("--profile",),
        field="profile",
        metavar="NAME",
        help="Set of cases. Default: smoke; `gateway-bench cases` lists them.",
    ),
    OptionRow(
        section=WHAT,
        spellings=("--suite",),
        field="suite",
        metavar="NAME",
        help="The older selector of cases.",
    ),
    OptionRow(
        section=WHAT,
        spellings=("--case",),
        field="case",
        metavar="LIST",
        help="These cases only. Repeatable.",
    ),
    OptionRow(
        section=WHAT,
        spellings=("--reference",),
        field="reference",
        metavar="TARGET",
        help="Target whose answers the others are compared with. Default: the first.",
    ),
    OptionRow(
        section=HOW_OFTEN,
        spellings=("--runs",),
        field="runs",
        metavar="N",
        help="Measured runs of each case. Default: the case's own.",
    ),
    OptionRow(
        section=HOW_OFTEN,
        spellings=("--warmup",),
        field="warmup",
        metavar="N",
        help="Warm-up runs of each case, excluded from figures.",
    ),
    OptionRow(
        section=HOW_OFTEN,
        spellings=("--budget", "--max-time"),
        field="budget",
        metavar="TIME",
        help="Most time with a request in flight, per target: 2m, 500ms, bare = ms. Default: 2m.",
    ),
    OptionRow(
        section=HOW_OFTEN,
        spellings=("-c", "--concurrency"),
        field="concurrency",
        metavar="N",
        help="Requests in flight at a time, instead of the case's own number.",
    ),
    OptionRow(
        section=HOW_OFTEN,
        spellings=("--parallel-groups",),
        field="parallel_groups",
        metavar="N",
        help="Quality groups side by side; performance groups always run alone. Default: 1.",
    ),
    OptionRow(
        section=HOW_OFTEN,
        spellings=("--overlap",),
        field="overlap",
        help="Let performance groups run beside others; the report says so.",
    ),
    OptionRow(
        section=HOW_OFTEN,
        spellings=("--seed",),
        field="seed",
        metavar="N",
        help="Draws the instances; the same seed asks the same. Default: 1.",
    ),
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
    OptionRow(
        section=ENDPOINT,
        spellings=("--url",),
        field="url",
        metavar="URL",
        help="A host, a /v1 base or the full path. Default: BENCHMARK_API_URL, else the preset's.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--preset",),
        field="preset",
        metavar="NAME",
        help="Endpoint, dialect and key rules of demo, llmgateway, litellm or portkey.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--api-key-env",),
        field="api_key_env",
        metavar="NAME",
        help="Variable that holds the key. Default: LLM_GATEWAY_API_KEY, then LLMGATEWAY_API_KEY.",
    ),
    OptionRow(section=ENDPOINT, spellings=("--no-key",), field="key", help="Send no key."),
    OptionRow(
        section=ENDPOINT,
        spellings=("-H", "--header"),
        field="header",
        metavar="'NAME: VALUE'",
        help="One more request header. Repeatable; no place for secrets.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--header-env",),
        field="header_env",
        metavar="NAME=VARIABLE",
        help="A header whose value is a secret in a variable. Repeatable.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--cacert",),
        field="cacert",
        metavar="FILE",
        help="Certificate authorities to trust instead of the system's (PEM).",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--dialect",),
        field="dialect",
        metavar="NAME",
        help="auto, plain, llmgateway, litellm or portkey. Default: auto, and says what it found.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--api",),
        field="api",
        metavar="NAME",
        help="Wire protocol: chat.",
    ),
    OptionRow(
        section=MONEY,
        spellings=("--max-cost",),
        field="max_cost",
        metavar="USD",
        help="Send nothing that could take the total above this.",
    ),
    OptionRow(
        section=MONEY,
        spellings=("--assume-price",),
        field="assume_price",
        metavar="IN/OUT",
        help="Dollars per million tokens, where the gateway lists no price.",
    ),
    OptionRow(
        section=MONEY,
        spellings=("--no-price-library",),
        field="price_library",
        help="Ask no price library (extra `prices`) where the gateway lists no price.",
    ),
    OptionRow(
        section=MONEY,
        spellings=("--allow-unknown-cost",),
        field="allow_unknown_cost",
        help="With --max-cost: go on though some cost can't be bounded.",
    ),
    OptionRow(
        section=RESULTS,
        spellings=("--no-responses",),
        field="responses",
        help="Leave the answers' text out of the result.",
    ),
    OptionRow(
        section=RESULTS,
        spellings=("--no-archive",),
        field="archive",
        help="Keep no copy in your data folder.",
    ),
    OptionRow(
        section=RESULTS,
        spellings=("--require-complete",),
        field="require_complete",
        help="A run cut by time ends with exit code 5.",
    ),
    OptionRow(section=TALK, spellings=("--quiet",), field="quiet", help="No progress."),
)

CONSENT: tuple[tuple[str, tuple[str, ...], dict[str, Any], str], ...] = (
    (MONEY, ("--yes",), {"is_flag": True}, "Yes to the question that a paid run asks."),
    (
        MONEY,
        ("--again",),
        {"is_flag": True},
        "Pay again though an unfinished run of the same plan could be resumed.",
    ),
    (HOW_OFTEN, ("--no-budget",), {"is_flag": True}, "No limit of time."),
    (
        ENDPOINT,
        ("--trust-url", "trusted_hosts"),
        {"multiple": True, "metavar": "HOST"},
        "Let a key go to this host though a .env or toml file names it. Repeatable.",
    ),
)
