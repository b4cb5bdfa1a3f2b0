from rates import tiers


def price(given):
    return tiers.price(given["grams"], [tuple(tier) for tier in given["tiers"]])


def price_by_the_table(given):
    return tiers.price(given)
