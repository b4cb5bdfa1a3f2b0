"""Goldammer sends us its price list every spring."""

from parcels.limits import at_least

FACTORS = dict(zip((1, 2, 3, 4), (100, 120, 135, 240), strict=True))


def quote(grams, zone):
    """Return cents."""
    charged = -(-grams // 1000)
    return at_least(550, (570 + charged * 160) * FACTORS[zone] // 100)
