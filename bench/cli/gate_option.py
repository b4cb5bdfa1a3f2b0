"""The options that decide the exit code of a run by its figures. Data only."""

from bench.cli.option_row import GATES, OptionRow

GATE_ROWS = (
    OptionRow(
        section=GATES,
        spellings=("--fail-on",),
        field="fail_on",
        metavar="GATE",
        help="End with 6 when the run surely lies beyond: ttft.p99=500ms, success=99%, rate=20/s. "
        "Repeatable.",
    ),
    OptionRow(
        section=GATES,
        spellings=("--strict",),
        field="strict",
        help="A gate that stays undecided ends with 8 instead of 0.",
    ),
)
