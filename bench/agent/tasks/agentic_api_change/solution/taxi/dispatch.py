"""Who drives."""

from taxi import grid

REACH = 5


def nearest(place, cars):
    """Return the name of the nearest car within reach, of equals the first by name; else None.

    Ways are compared in whole kilometres: nobody sends a car across town for 100 metres.
    """
    near = [(grid.distance(place, at, unit="km"), name) for name, at in cars.items()]
    near = [pair for pair in near if pair[0] <= REACH]
    return min(near)[1] if near else None
