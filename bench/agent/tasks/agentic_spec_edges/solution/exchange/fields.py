"""Reads one line."""

import re


class BadLine(Exception):
    """A line against the specification."""


_QUOTED = re.compile(r' *"((?:[^"\\]|""|\\n|\\\\)*)" *', re.DOTALL)
_PLAIN = re.compile(r'[^;"]*', re.DOTALL)
_ESCAPE = re.compile(r'""|\\n|\\\\')
_MEANING = {'""': '"', "\\n": "\n", "\\\\": "\\"}


def fields(line):
    """Return the fields of `line`: text, or None for null.

    Raises BadLine where SPEC.md calls it an error.
    """
    if not line:
        return []
    found, at = [], 0
    while True:
        quoted = _QUOTED.match(line, at)
        if quoted:
            found.append(_ESCAPE.sub(lambda escape: _MEANING[escape.group()], quoted.group(1)))
            at = quoted.end()
        else:
            plain = _PLAIN.match(line, at)
            found.append(plain.group().strip(" ") or None)
            at = plain.end()
        if at == len(line):
            return found
        if line[at] != ";":
            raise BadLine(line)
        at += 1
