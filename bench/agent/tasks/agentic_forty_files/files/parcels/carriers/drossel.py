"""Drossel sends us its price list every spring."""

from parcels.limits import at_least

FACTORS = dict(zip((1, 2, 3, 4), (100, 120, 160, 170), strict=True))


def quote(grams, zone):
    """Return cents."""
    charged = (grams + 999) // 1000
    return at_least(350, (300 + charged * 140) * FACTORS[zone] // 100)
