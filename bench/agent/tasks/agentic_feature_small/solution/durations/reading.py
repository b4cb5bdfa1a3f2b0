"""Reads durations."""

import re

from durations.writing import UNITS

_PARTS = "".join(rf" *(?:([0-9]+){unit})?" for unit, _ in UNITS)
_DURATION = re.compile(_PARTS + " *", re.IGNORECASE | re.ASCII)


def parse_duration(text):
    """Return the whole seconds that `text` stands for; ValueError where it is no duration."""
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groups()):
        raise ValueError(f"no duration: {text!r}")
    numbers = zip(found.groups(), UNITS, strict=True)
    return sum(int(number) * size for number, (_, size) in numbers if number)
