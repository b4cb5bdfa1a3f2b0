"""What a ride costs."""

from taxi.grid import distance

BASE_CENTS = 390
CENTS_PER_KM = 210


def fare(a, b):
    return BASE_CENTS + CENTS_PER_KM * distance(a, b, unit="km")
