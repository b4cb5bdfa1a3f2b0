"""Limits of prices."""


def at_least(minimum, cents):
    """Return cents, but not less than the minimum."""
    return max(minimum, cents)
