"""Bussard sends us its price list every spring."""

from parcels.limits import at_least

FACTORS = dict(zip((1, 2, 3, 4), (100, 110, 160, 190), strict=True))


def quote(grams, zone):
    """Return cents."""
    charged = -(-grams // 1000)
    return at_least(300, (560 + charged * 40) * FACTORS[zone] // 100)
