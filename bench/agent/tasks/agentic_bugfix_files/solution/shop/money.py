"""Whole cents."""


def percent_of(cents, percent):
    """Return `percent` of `cents`, rounded to a whole cent, a half away from zero."""
    hundredths = cents * percent
    rounded = (abs(hundredths) + 50) // 100
    return rounded if hundredths >= 0 else -rounded
