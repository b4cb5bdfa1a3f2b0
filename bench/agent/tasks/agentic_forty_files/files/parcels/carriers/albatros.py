"""Albatros: started kilograms."""

ZONES = {1: 100, 2: 120, 3: 150, 4: 250}


def quote(grams, zone):
    """Return cents."""
    kilograms = -(-grams // 1000)
    cents = (210 + 110 * kilograms) * ZONES[zone] // 100
    return max(cents, 500)
