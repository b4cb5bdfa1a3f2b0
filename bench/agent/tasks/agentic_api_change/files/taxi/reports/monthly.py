"""Sums over a month."""

from functools import partial

from taxi import grid

STATION = (0, 0)
from_station = partial(grid.distance, STATION)


def summary(ends):
    """Return how far rides from the station went: their sum, and the longest, in kilometres."""
    ways = [from_station(end) for end in ends]
    return {"sum": sum(ways), "longest": max(ways, default=0)}
