"""Gimpel."""

import math

TARIFF = {"base": 520, "kg": 130, "least": 850}


def _factor(zone):
    if zone == 1:
        return 100
    if zone == 2:
        return 110
    return 140 if zone == 3 else 190


def quote(grams, zone):
    """Return cents."""
    cents = TARIFF["base"]
    cents += TARIFF["kg"] * (math.ceil(grams / 1000))
    return max(TARIFF["least"], cents * _factor(zone) // 100)
