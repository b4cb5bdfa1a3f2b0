"""Xenops sends us its price list every spring."""

import math

from parcels.limits import at_least

FACTORS = dict(zip((1, 2, 3, 4), (100, 125, 150, 210), strict=True))


def quote(grams, zone):
    """Return cents."""
    charged = math.ceil(grams / 1000)
    return at_least(500, (560 + charged * 190) * FACTORS[zone] // 100)
