"""The option of gates. Data only."""

from bench.cli.option_row import GATES, OptionRow

GATE_ROW = OptionRow(
    section=GATES,
    spellings=("--fail-on",),
    field="fail_on",
    metavar="GATE",
    help="Fail (6) when b differs from a by more: ttft=+5%, itl.p99=+2ms, tokens-per-s=-5%, "
    "errors=+1pt. Repeatable.",
)
