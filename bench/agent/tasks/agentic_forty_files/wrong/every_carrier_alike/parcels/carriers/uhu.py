"""Uhu: full kilograms."""

ZONES = {1: 100, 2: 105, 3: 160, 4: 230}


def quote(grams, zone):
    """Return cents."""
    kilograms = -(-grams // 1000)
    cents = (670 + 50 * kilograms) * ZONES[zone] // 100
    return max(cents, 400)
