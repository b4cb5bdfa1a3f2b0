"""Ysop: started kilograms."""

import math

ZONES = {1: 100, 2: 125, 3: 130, 4: 250}


def quote(grams, zone):
    """Return cents."""
    kilograms = math.ceil(grams / 1000)
    cents = (320 + 50 * kilograms) * ZONES[zone] // 100
    return max(cents, 750)
