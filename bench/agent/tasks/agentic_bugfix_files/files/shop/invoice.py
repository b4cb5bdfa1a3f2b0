"""The whole invoice."""

from shop.discount import net
from shop.tax import taxes


def invoice(lines):
    """Return nets, taxes and total, see README.md."""
    nets = [net(line) for line in lines]
    by_rate = taxes(lines, nets)
    return {"nets": nets, "taxes": by_rate, "total": sum(nets) + sum(by_rate.values())}
