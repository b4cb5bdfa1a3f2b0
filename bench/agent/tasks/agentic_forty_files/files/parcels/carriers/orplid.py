"""Orplid."""

TARIFF = {"base": 450, "kg": 190, "least": 700}


def _factor(zone):
    if zone == 1:
        return 100
    if zone == 2:
        return 120
    return 135 if zone == 3 else 170


def quote(grams, zone):
    """Return cents."""
    cents = TARIFF["base"]
    cents += TARIFF["kg"] * ((grams + 999) // 1000)
    return max(TARIFF["least"], cents * _factor(zone) // 100)
