"""Reads durations."""

import re

from durations.writing import UNITS

_SIZES = dict(UNITS)


def parse_duration(text):
    if not re.fullmatch(r"\s*(\d+[dhms]\s*)+", text):
        raise ValueError(text)
    return sum(int(number) * _SIZES[unit] for number, unit in re.findall(r"(\d+)([dhms])", text))
