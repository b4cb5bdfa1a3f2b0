"""Numbers as people read them, with their unit; what was not measured is a dash."""

import math

from bench.model.summary import Interval, NumericSummary, Rate

ABSENT = "-"


def ms(value: float | None) -> str:
    """Return milliseconds with about three significant digits, without the unit."""
    if value is None:
        return ABSENT
    for bound, digits in ((10, 2), (100, 1)):
        if abs(value) < bound:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


def number(value: float | None) -> str:
    """Return a plain number with about three significant digits."""
    return ms(value)


def percent(share: float | None) -> str:
    """Return a share as per cent; only exactly none or all is shown as 0 or 100."""
    if share is None:
        return ABSENT
    value = share * 100
    if share <= 0 or share >= 1:
        return f"{value:.0f}%"
    for digits in range(4):
        text = f"{value:.{digits}f}"
        if float(text) not in {0.0, 100.0}:
            return f"{text}%"
    return "> 99.999%" if share > 0.5 else "< 0.001%"  # noqa: PLR2004 -- the nearer end


def usd(value: float | None) -> str:
    """Return US dollars with at least three significant digits."""
    if value is None:
        return ABSENT
    if value == 0:
        return "$0"
    digits = max(2, 2 - math.floor(math.log10(abs(value))))
    return f"${value:,.{digits}f}"


def duration(value_ms: float) -> str:
    """Return a span of time in the unit that suits it."""
    seconds = value_ms / 1_000
    if seconds < 1:
        return f"{value_ms:.0f} ms"
    if seconds < 60:  # noqa: PLR2004 -- seconds in a minute
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def percent_range(interval: Interval | None) -> str:
    """Return an interval of shares, such as ``49 to 97%``; empty without one."""
    if interval is None:
        return ""
    low, high = (percent(bound).removesuffix("%") for bound in interval)
    return f"{low} to {high}%"


def ms_range(interval: Interval | None) -> str:
    """Return an interval of milliseconds; empty without one."""
    return "" if interval is None else f"{ms(interval[0])} to {ms(interval[1])}"


def rate_detail(rate: Rate | None) -> str:
    """Return ``6 of 7, 49 to 97%``: what a rate stands on, and its 95% interval."""
    if rate is None or rate.of == 0:
        return ""
    return f"{rate.hits} of {rate.of}, {percent_range(rate.interval)}"


def sample_detail(summary: NumericSummary | None) -> str:
    """Return ``of 12, 180 to 210``: number of values and the 95% interval of their median."""
    if summary is None:
        return ""
    interval = ms_range(summary.p50_interval)
    return f"of {summary.count}, {interval}" if interval else f"of {summary.count}"


def counted(count: int, noun: str) -> str:
    """Return ``1 trial`` or ``2 trials``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def trial_name(trial_id: str) -> str:
    """Return ``target · case · r1`` for ``target|case|r1``."""
    return trial_id.replace("|", " · ")


def source_words(source: str) -> str:
    """Return who says what something cost, to go on with behind an amount."""
    return _SOURCES.get(source, f"by {source}")


_SOURCES = {
    "gateway": "told by the gateway",
    "gateway-list": "by the gateway's list",
    "catalogue": "by the catalogue",
    "assumed": "at assumed prices",
    "simulator": "by the simulator's list",
    "genai-prices": "by genai-prices",
    "reserve": "reserved",
}
