"""Fink."""

TARIFF = {"base": 490, "kg": 120, "least": 850}


def _factor(zone):
    if zone == 1:
        return 100
    if zone == 2:
        return 105
    return 135 if zone == 3 else 240


def quote(grams, zone):
    """Return cents."""
    cents = TARIFF["base"]
    cents += TARIFF["kg"] * (-(-grams // 1000))
    return max(TARIFF["least"], cents * _factor(zone) // 100)
