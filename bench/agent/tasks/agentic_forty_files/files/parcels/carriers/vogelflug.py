"""What Vogelflug takes."""

BASE, PER_KG, MINIMUM = 380, 150, 600
PERCENT = (100, 110, 140, 170)


def weight_units(grams):
    """Return the kilograms that are charged."""
    return -(-grams // 1000)


def quote(grams, zone):
    """Return cents."""
    cents = (BASE + PER_KG * weight_units(grams)) * PERCENT[zone - 1] // 100
    return cents if cents > MINIMUM else MINIMUM
