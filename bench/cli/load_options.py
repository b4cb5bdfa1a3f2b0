"""The options that shape load. Data only."""

from bench.cli.option_row import LOAD, OptionRow

LOAD_ROWS = (
    OptionRow(
        section=LOAD,
        spellings=("-c", "--concurrency"),
        field="concurrency",
        metavar="N",
        help="Requests in flight: 8; 1,2,4,8 one after another; 1..64 rising over -d.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("-n", "--requests"),
        field="requests",
        metavar="N",
        help="Measured requests of each load stage. With -n, -d or --rate no budget counts unless typed.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("-d", "--duration"),
        field="duration",
        metavar="TIME",
        help="How long each load stage sends; what is in flight finishes.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--rate",),
        field="rate",
        metavar="RATE",
        help="Requests that come whether or not others were answered: 20/s; 5/s,10/s; 1/s..50/s.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--arrival",),
        field="arrival",
        metavar="KIND",
        help="Gaps of --rate: constant, poisson or gamma:SHAPE (below 1 in bursts). Default: poisson.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--sweep",),
        field="sweep",
        metavar="LOW..HIGH",
        help="Raise the load until it saturates, then find where: 1..256 at once, 1/s..100/s.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--trace",),
        field="trace",
        metavar="FILE",
        help="Replay recorded arrivals: JSON lines or CSV with times and token counts.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--trace-speed",),
        field="trace_speed",
        metavar="X",
        help="2 = twice as fast as recorded.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--turns",),
        field="turns",
        metavar="N",
        help="Requests of one conversation, each with all that was said before. Default: 1.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--lock-step",),
        field="lock_step",
        help="Send the first requests of a stage all at once; else they begin one after another.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--slo",),
        field="slo",
        metavar="METRIC=BOUND",
        help="What each request must keep: ttft=500ms, itl.p99=50ms, total, tpot, tokens-per-s. Repeatable.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--stop-on",),
        field="stop_on",
        metavar="RULE",
        help="End a load stage early: errors=10%, tokens=500k, saturation. Repeatable.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--workers",),
        field="workers",
        metavar="N",
        help="Processes that send the load together; more than 1 only where one is the limit. Default: 1.",
    ),
    OptionRow(
        section=LOAD,
        spellings=("--spread",),
        field="spread",
        metavar="TIME",
        help="Spread the plan's trials over so much time, such as 6h.",
    ),
)
