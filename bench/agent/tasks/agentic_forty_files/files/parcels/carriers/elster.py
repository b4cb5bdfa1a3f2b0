"""Elster: started kilograms."""

ZONES = {1: 100, 2: 115, 3: 140, 4: 190}


def quote(grams, zone):
    """Return cents."""
    kilograms = (grams + 999) // 1000
    cents = (510 + 200 * kilograms) * ZONES[zone] // 100
    return max(cents, 350)
