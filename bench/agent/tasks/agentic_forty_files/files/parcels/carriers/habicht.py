"""Habicht: started kilograms."""

ZONES = {1: 100, 2: 125, 3: 160, 4: 240}


def quote(grams, zone):
    """Return cents."""
    kilograms = -(-grams // 1000)
    cents = (650 + 190 * kilograms) * ZONES[zone] // 100
    return max(cents, 300)
