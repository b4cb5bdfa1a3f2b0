"""Reads one line."""

import re


class BadLine(Exception):
    """A line against the specification."""


_FIELD = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^;"]*))\s*(;|$)')


def fields(line):
    if not line:
        return []
    found, at = [], 0
    while True:
        match = _FIELD.match(line, at)
        if match is None:
            raise BadLine(line)
        if match.group(1) is not None:
            found.append(match.group(1).replace('""', '"').replace("\\n", "\n"))
        else:
            found.append(match.group(2).strip() or None)
        at = match.end()
        if not match.group(3):
            return found
