"""What Bachstelze takes."""

import math

BASE, PER_KG, MINIMUM = 360, 180, 300
PERCENT = (100, 110, 135, 220)


def weight_units(grams):
    """Return the kilograms that are charged."""
    return math.ceil(grams / 1000)


def quote(grams, zone):
    """Return cents."""
    cents = (BASE + PER_KG * weight_units(grams)) * PERCENT[zone - 1] // 100
    return cents if cents > MINIMUM else MINIMUM
