"""Ways along the streets."""

METRES = {"m": 1, "km": 1000}


def distance(a, b, *, unit="m"):
    """Return the way from `a` to `b` in whole units, rounded down; `unit` is `m` or `km`."""
    if unit not in METRES:
        raise ValueError(f"no unit {unit!r}")
    return (abs(a[0] - b[0]) + abs(a[1] - b[1])) // METRES[unit]
