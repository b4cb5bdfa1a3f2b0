"""Ways along the streets."""

METRES = {"m": 1, "km": 1000}


def distance(a, b, *, unit="m"):
    if unit not in METRES:
        raise ValueError(unit)
    return (abs(a[0] - b[0]) + abs(a[1] - b[1])) // METRES[unit]
