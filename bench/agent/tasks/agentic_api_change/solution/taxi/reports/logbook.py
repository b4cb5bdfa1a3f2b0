"""One line for each ride."""

from taxi.grid import distance as way


def line(driver, a, b):
    """Return the ride as text."""
    return f"{driver}: {way(a, b, unit='km')} km"
