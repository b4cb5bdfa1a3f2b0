"""Which trees of files may go into the sandbox at all: a candidate wrote them."""

from pathlib import PurePosixPath

from bench.agent.task import Tree
from bench.sandbox.program import path_fault

MAX_FILES = 400
MAX_BYTES = 2 * 1024 * 1024
"""Of all files together, in UTF-8; no task needs a tenth of it."""
SHOWN = 200
"""Characters of a path that a fault quotes."""


def unfit(tree: Tree) -> str | None:
    """Return why ``tree`` can't be judged, in one line; ``None`` = it can.

    Checked here so that a candidate can't make the sandbox refuse, which would count as unknown.
    """
    if len(tree) > MAX_FILES:
        return f"{len(tree)} files are more than the {MAX_FILES} that are judged"
    for path in tree:
        fault = path_fault(path)
        if fault is not None:
            return f"the path {path!a:.{SHOWN}} can't be judged: {fault}"
    clash = _clash(tree)
    if clash is not None:
        return clash
    try:
        size = sum(len(text.encode()) for text in tree.values())
    except UnicodeEncodeError:
        return "a file holds text that is no Unicode"
    return (
        f"{size} bytes are more than the {MAX_BYTES} that are judged" if size > MAX_BYTES else None
    )


def _clash(tree: Tree) -> str | None:
    """Return which two paths can't both be files."""
    if len({path.casefold() for path in tree}) < len(tree):
        return "two paths differ only in capitals, which are one file on some systems"
    inside = next((path for path in tree for above in folders(path) if above in tree), None)
    return None if inside is None else f"the path {inside!a} lies below a file"


def folders(path: str) -> tuple[str, ...]:
    """Return the folders that ``path`` lies in, the nearest first."""
    return tuple(str(folder) for folder in PurePosixPath(path).parents)[:-1]
