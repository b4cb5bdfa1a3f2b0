"""Milan: full kilograms."""

ZONES = {1: 100, 2: 125, 3: 150, 4: 200}


def quote(grams, zone):
    """Return cents."""
    kilograms = grams // 1000
    cents = (230 + 50 * kilograms) * ZONES[zone] // 100
    return max(cents, 400)
