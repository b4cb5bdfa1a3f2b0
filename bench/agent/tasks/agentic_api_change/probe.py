from taxi import dispatch, fares, grid, plugins
from taxi.reports import logbook, monthly


def metres(given):
    return grid.distance(*given)


def metres_by_name(given):
    return grid.distance(*given["points"], unit=given["unit"])


def unit_by_position(given):
    return grid.distance(*given["points"], given["unit"])


def fare(given):
    return fares.fare(*given)


def nearest(given):
    return dispatch.nearest(given["place"], given["cars"])


def line(given):
    return logbook.line(given["driver"], *given["points"])


def summary(given):
    return monthly.summary(given)


def show(given):
    return plugins.show(given["name"], *given["points"])
