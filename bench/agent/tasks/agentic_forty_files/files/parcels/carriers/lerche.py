"""Lerche sends us its price list every spring."""

from parcels.limits import at_least

FACTORS = dict(zip((1, 2, 3, 4), (100, 120, 155, 220), strict=True))


def quote(grams, zone):
    """Return cents."""
    charged = (grams + 999) // 1000
    return at_least(500, (580 + charged * 180) * FACTORS[zone] // 100)
