"""Discounts of a line."""

from shop.money import percent_of


def net(line):
    """Return what a line costs before tax."""
    gross = line["quantity"] * line["unit_cents"]
    return percent_of(gross, 100 - line["discount_percent"])
