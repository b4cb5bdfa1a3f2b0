"""Reads one line."""


class BadLine(Exception):
    """A line against the specification."""


def fields(line):
    """Return the fields of `line`: text, or None for null.

    Raises BadLine where SPEC.md calls it an error.
    """
    return line.split(";")
