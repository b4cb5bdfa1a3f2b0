"""Whole cents."""


def percent_of(cents, percent):
    return (cents * percent + 50) // 100
