"""Divides a total by weights."""


def split(total, weights):
    """Return the share of each weight in cents, see README.md."""
    if total < 0 or min(weights, default=-1) < 0 or sum(weights) == 0:
        raise ValueError("no weights to divide by, or something negative")
    whole = sum(weights)
    shares = [total * weight // whole for weight in weights]
    by_fraction = sorted(range(len(weights)), key=lambda at: -(total * weights[at] % whole))
    for at in by_fraction[: total - sum(shares)]:
        shares[at] += 1
    return shares
