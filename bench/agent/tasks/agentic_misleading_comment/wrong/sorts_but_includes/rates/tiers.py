"""Price by weight."""


class NotCarried(Exception):
    """No tier takes the parcel."""


TIERS = ((5_000, 990), (1_000, 490), (20_000, 1_890), (250, 250))


def price(grams, tiers=TIERS):
    """Return the price in cents of a parcel of `grams`."""
    for limit, cents in sorted(tiers):
        if 0 < grams <= limit:
            return cents
    raise NotCarried(grams)
