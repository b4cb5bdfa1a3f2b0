"""Querfeld: started kilograms."""

ZONES = {1: 100, 2: 110, 3: 140, 4: 210}


def quote(grams, zone):
    """Return cents."""
    kilograms = (grams + 999) // 1000
    cents = (610 + 60 * kilograms) * ZONES[zone] // 100
    return max(cents, 400)
