"""Taxes of an invoice."""

from shop.money import percent_of


def taxes(lines, nets):
    """Return the tax in cents for each rate, as text."""
    sums = {}
    for line, net in zip(lines, nets, strict=True):
        rate = line["tax_percent"]
        sums[rate] = sums.get(rate, 0) + net
    return {str(rate): percent_of(total, rate) for rate, total in sums.items()}
