"""How milliseconds are written in a sentence about a difference. Pure."""

_HUNDRED = 100.0
_TEN = 10.0


def number(value: float) -> str:
    """Return milliseconds with as many digits as they carry."""
    if value >= _HUNDRED:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= _TEN else f"{value:.2f}"


def signed(value: float | None) -> str:
    """Return milliseconds with their sign; ``-`` where there is none."""
    if value is None:
        return "-"
    sign = "-" if value < 0 else "+" if value > 0 else ""
    return f"{sign}{number(abs(value))}"
