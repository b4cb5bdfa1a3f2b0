"""Taxes of an invoice."""

from shop.money import percent_of


def taxes(lines, nets):
    """Return the tax in cents for each rate, as text."""
    by_rate = {}
    for line, net in zip(lines, nets, strict=True):
        rate = line["tax_percent"]
        by_rate[str(rate)] = by_rate.get(str(rate), 0) + percent_of(net, rate)
    return by_rate
