"""Sperber."""

TARIFF = {"base": 340, "kg": 100, "least": 600}


def _factor(zone):
    if zone == 1:
        return 100
    if zone == 2:
        return 105
    return 160 if zone == 3 else 250


def quote(grams, zone):
    """Return cents."""
    cents = TARIFF["base"]
    cents += TARIFF["kg"] * ((grams + 999) // 1000)
    return max(TARIFF["least"], cents * _factor(zone) // 100)
