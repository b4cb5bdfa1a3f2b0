"""Who drives."""

from taxi import grid

REACH = 5


def nearest(place, cars):
    near = [(grid.distance(place, at, unit="km"), name) for name, at in cars.items()]
    near = [pair for pair in near if pair[0] <= REACH]
    return min(near)[1] if near else None
