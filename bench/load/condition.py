"""What objectives and gates have in common as people type them: `METRIC.STATISTIC=BOUND`. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

_STATISTIC = re.compile(
    r"(?P<metric>.*?)\.(?P<statistic>p[0-9]{1,2}(?:\.[0-9]+)?|p[0-9]*|max|mean|min)"
)
_SPELLINGS = {"firsttoken": "first-token", "quality": "quality.score", "score": "quality.score"}
"""What people type for a metric besides its name, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition in its parts, none of them judged."""

    metric: str
    statistic: str
    """``p99``, ``max``; empty = none was typed."""
    bound: str | None
    """``None`` = there is no ``=``."""


def read_condition(text: str) -> Condition:
    """Take `itl.p99=50ms` apart; a metric's other spellings become its name."""
    left, equals, right = (part.strip() for part in text.partition("="))
    found = _STATISTIC.fullmatch(left)
    metric, statistic = (found["metric"], found["statistic"]) if found else (left, "")
    return Condition(
        metric=_SPELLINGS.get(metric.lower(), metric),
        statistic=statistic,
        bound=right if equals else None,
    )


def near_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant; ``None`` = none is near."""
    near = get_close_matches(name.lower(), list(known), n=1, cutoff=0.6)
    return near[0] if near else None
