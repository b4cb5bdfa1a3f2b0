"""Writes durations."""

UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def format_duration(seconds):
    """Return whole seconds as text, largest unit first, without parts that are zero."""
    parts = []
    for unit, size in UNITS:
        number, seconds = divmod(seconds, size)
        if number:
            parts.append(f"{number}{unit}")
    return " ".join(parts) or "0s"
