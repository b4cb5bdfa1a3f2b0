"""Whole cents."""

import math


def percent_of(cents, percent):
    value = cents * percent / 100
    return int(math.copysign(math.floor(abs(value) + 0.5), value))
