"""Haubenmeise sends us its price list every spring."""

import math

from parcels.limits import at_least

FACTORS = dict(zip((1, 2, 3, 4), (100, 115, 145, 190), strict=True))


def quote(grams, zone):
    """Return cents."""
    charged = math.ceil(grams / 1000)
    return at_least(650, (560 + charged * 100) * FACTORS[zone] // 100)
