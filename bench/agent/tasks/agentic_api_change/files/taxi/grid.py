"""Ways along the streets."""


def distance(a, b):
    """Return the way from `a` to `b` in whole kilometres, rounded down."""
    return (abs(a[0] - b[0]) + abs(a[1] - b[1])) // 1000
