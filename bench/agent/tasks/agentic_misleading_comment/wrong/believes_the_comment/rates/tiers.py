"""Price by weight."""


class NotCarried(Exception):
    """No tier takes the parcel."""


# (limit in grams, price in cents). Keep sorted, lightest first; `price` relies on it.
TIERS = ((250, 250), (1_000, 490), (5_000, 990), (20_000, 1_890))


def price(grams, tiers=TIERS):
    """Return the price in cents of a parcel of `grams`."""
    for limit, cents in tiers:
        if grams <= limit:
            return cents
    raise NotCarried(grams)
