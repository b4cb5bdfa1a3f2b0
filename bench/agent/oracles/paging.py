"""Checks of the paging tasks, in both languages: pages are counted by laying articles out."""

from bench.agent.oracles.making import calls
from bench.agent.task import Check, Equals, Expectation, Json, Raises
from bench.seeds import SeededStream

_ARTICLES = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu"]


def python_checks() -> tuple[Check, ...]:
    """Return the checks of `agentic_bugfix_small`."""
    return _checks("ValueError")


def javascript_checks() -> tuple[Check, ...]:
    """Return the checks of `agentic_bugfix_small_javascript`."""
    return _checks("RangeError")


def _checks(error: str) -> tuple[Check, ...]:
    draw = SeededStream(11, label="coding task")
    counts = [(0, 10), (1, 10), (10, 10), (19, 10), (30, 10), (40, 8), (7, 1), (5, 50), (3, 0)]
    counts += [(draw.between(0, 500), draw.between(1, 40)) for _ in range(8)]
    rows = [(1, 1, 1), (1, 9, 3), (8, 9, 3), (5, 9, 4), (9, 9, 4), (8, 9, 5), (2, 3, 7), (1, 0, 3)]
    rows += [(28, 30, 9), (29, 30, 9), (13, 14, 6), (2, 14, 6)]
    rows += [_row(draw) for _ in range(12)]
    pages = [(1, 3), (2, 3), (3, 3), (4, 3), (1, 7), (1, 9), (0, 3)]
    return (
        *calls(
            "page_count",
            [{"total": total, "size": size} for total, size in counts],
            lambda given: _page_count(given, error),
        ),
        *calls(
            "links",
            [
                {"current": current, "count": count, "width": width}
                for current, count, width in rows
            ],
            _links,
        ),
        *calls(
            "page",
            [{"articles": _ARTICLES, "number": number, "size": size} for number, size in pages],
            lambda given: _page(given, error),
        ),
    )


def _row(draw: SeededStream) -> tuple[int, int, int]:
    count = draw.between(1, 30)
    return draw.between(1, count), count, draw.between(1, 9)


def _page_count(given: Json, error: str) -> Expectation:
    if given["size"] < 1:
        return Raises(name=error)
    return Equals(value=len(range(0, given["total"], given["size"])))


def _page(given: Json, error: str) -> Expectation:
    number, size = given["number"], given["size"]
    if number < 1:
        return Raises(name=error)
    laid_out = [article for at, article in enumerate(given["articles"]) if at // size == number - 1]
    return Equals(value=laid_out)


def _links(given: Json) -> Expectation:
    """Of all rows of the right length, the one whose middle is nearest to where it should stand."""
    count, width = given["count"], min(given["width"], given["count"])
    wanted = given["current"] - given["width"] // 2
    starts = range(1, count - width + 2)
    first = min(starts, key=lambda start: abs(start - wanted), default=1)
    return Equals(value=list(range(first, first + width)))
