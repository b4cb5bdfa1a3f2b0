"""Whole cents."""


def percent_of(cents, percent):
    hundredths = cents * percent
    rounded = (abs(hundredths) + 50) // 100
    return rounded if hundredths >= 0 else -rounded
