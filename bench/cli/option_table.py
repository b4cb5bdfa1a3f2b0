"""The table of measuring options: spelling, heading and help of each. Data only."""

from typing import Any

from bench.cli.case_options import CASE_ROWS
from bench.cli.endpoint_options import ENDPOINT_ROWS
from bench.cli.gate_option import GATE_ROWS
from bench.cli.load_options import LOAD_ROWS
from bench.cli.option_row import ENDPOINT, HOW_OFTEN, MONEY, REQUEST, RESULTS, TALK, OptionRow
from bench.cli.request_options import REQUEST_ROWS

ROWS = (
    *CASE_ROWS,
    *LOAD_ROWS,
    *GATE_ROWS,
    *REQUEST_ROWS,
    *ENDPOINT_ROWS,
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
        section=REQUEST,
        spellings=("--allow-reduced-sandbox",),
        field="allow_reduced_sandbox",
        help="Agentic cases: run models' code also where this machine's sandbox holds less.",
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
