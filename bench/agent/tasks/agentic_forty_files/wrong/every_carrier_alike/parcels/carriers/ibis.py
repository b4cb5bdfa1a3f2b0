"""Ibis: started kilograms."""

import math

ZONES = {1: 100, 2: 120, 3: 150, 4: 180}


def quote(grams, zone):
    """Return cents."""
    kilograms = math.ceil(grams / 1000)
    cents = (290 + 100 * kilograms) * ZONES[zone] // 100
    return max(cents, 750)
