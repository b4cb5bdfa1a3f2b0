"""The options of a gateway's overhead: what it is held against, in how many pairs. Data only."""

from bench.cli.option_row import BASELINE, OptionRow

BASELINE_ROWS = (
    OptionRow(
        section=BASELINE,
        spellings=("--baseline-url",),
        field="baseline_url",
        metavar="URL",
        help="The gateway's upstream, asked directly. With a simulated upstream it is known.",
    ),
    OptionRow(
        section=BASELINE,
        spellings=("--baseline-model",),
        field="baseline_model",
        metavar="ID",
        help="The model as the upstream names it. Default: MODEL.",
    ),
    OptionRow(
        section=BASELINE,
        spellings=("--baseline-api-key-env",),
        field="baseline_api_key_env",
        metavar="NAME",
        help="Variable with the upstream's key. Default: no key is sent there.",
    ),
    OptionRow(
        section=BASELINE,
        spellings=("--baseline-key-header",),
        field="baseline_key_header",
        metavar="NAME",
        help="Header that carries it. Default: as the protocol has it.",
    ),
    OptionRow(
        section=BASELINE,
        spellings=("--baseline-header",),
        field="baseline_header",
        metavar="'NAME: VALUE'",
        help="Header for the upstream alone. Repeatable.",
    ),
    OptionRow(
        section=BASELINE,
        spellings=("--baseline-header-env",),
        field="baseline_header_env",
        metavar="NAME=VARIABLE",
        help="The same with its value in a variable. Repeatable.",
    ),
    OptionRow(
        section=BASELINE,
        spellings=("--baseline-dialect",),
        field="baseline_dialect",
        metavar="NAME",
        help="The upstream's own fields. Default: plain.",
    ),
    OptionRow(
        section=BASELINE,
        spellings=("--pairs",),
        field="pairs",
        metavar="N",
        help="Pairs at each level. Default: 100 of single requests at -c 1, else 12 of blocks.",
    ),
    OptionRow(
        section=BASELINE,
        spellings=("--noise-pairs",),
        field="noise_pairs",
        metavar="N",
        help="Pairs of the upstream with itself, measured first. Default: a third of --pairs.",
    ),
    OptionRow(
        section=BASELINE,
        spellings=("--cold-pairs",),
        field="cold_pairs",
        metavar="N",
        help="Pairs whose requests open a connection each. Default: 20 at -c 1, else none.",
    ),
    OptionRow(
        section=BASELINE,
        spellings=("--prompt-bytes",),
        field="prompt_bytes",
        metavar="LIST",
        help="Prompts of these sizes, each a level of its own: 1k,16k,128k.",
    ),
)
"""Also typed for the job that starts the gateway."""
