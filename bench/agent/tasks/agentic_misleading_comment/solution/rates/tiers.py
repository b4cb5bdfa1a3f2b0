"""Price by weight."""


class NotCarried(Exception):
    """No tier takes the parcel."""


# (limit in grams, price in cents), in any order.
TIERS = ((5_000, 990), (1_000, 490), (20_000, 1_890), (250, 250))


def price(grams, tiers=TIERS):
    """Return the price in cents of a parcel of `grams`; docs/contract.md has the rules."""
    fitting = [tier for tier in tiers if 0 < grams < tier[0]]
    if not fitting:
        raise NotCarried(grams)
    return min(fitting)[1]
