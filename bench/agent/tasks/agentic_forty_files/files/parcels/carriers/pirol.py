"""Pirol sends us its price list every spring."""

from parcels.limits import at_least

FACTORS = dict(zip((1, 2, 3, 4), (100, 110, 135, 240), strict=True))


def quote(grams, zone):
    """Return cents."""
    charged = -(-grams // 1000)
    return at_least(400, (650 + charged * 100) * FACTORS[zone] // 100)
