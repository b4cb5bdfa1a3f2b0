"""Whole cents."""


def percent_of(cents, percent):
    """Return `percent` of `cents`, rounded to a whole cent."""
    return round(cents * percent / 100)
