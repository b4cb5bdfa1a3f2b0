"""A table of figures in a page, between two comments that name the benchmark that wrote it."""

import re
from pathlib import Path


def replaced(page: str, name: str, table: str) -> str:
    """Return the page with ``table`` between ``<!-- NAME -->`` and ``<!-- /NAME -->``.

    Raises:
        ValueError: The page has not exactly one such place.
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    place = re.compile(re.escape(begin) + r"\n.*?" + re.escape(end), re.DOTALL)
    if len(place.findall(page)) != 1:
        message = f"one `{begin}` with its `{end}` is needed"
        raise ValueError(message)
    return place.sub(lambda _: f"{begin}\n{table.strip()}\n{end}", page)


def write_table(path: Path, name: str, table: str) -> None:
    """Put ``table`` into its place in the file."""
    path.write_text(replaced(path.read_text(encoding="utf-8"), name, table), encoding="utf-8")
