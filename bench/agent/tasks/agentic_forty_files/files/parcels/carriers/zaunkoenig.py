"""What Zaunkoenig takes."""

BASE, PER_KG, MINIMUM = 210, 200, 700
PERCENT = (100, 115, 140, 180)


def weight_units(grams):
    """Return the kilograms that are charged."""
    return (grams + 999) // 1000


def quote(grams, zone):
    """Return cents."""
    cents = (BASE + PER_KG * weight_units(grams)) * PERCENT[zone - 1] // 100
    return cents if cents > MINIMUM else MINIMUM
