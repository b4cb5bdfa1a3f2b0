"""One measuring option: spelling, heading and help. Data only."""

from dataclasses import dataclass

WHAT = "What is measured"
HOW_OFTEN = "How often and how long"
LOAD = "Load"
PAIRS = "Pairs"
GATES = "Gates"
REQUEST = "The request"
ENDPOINT = "Endpoint and key"
BASELINE = "What it is held against"
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
    is_hidden: bool = False
    """Not in the help of this command."""
