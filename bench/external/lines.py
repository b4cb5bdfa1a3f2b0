"""JSON lines of a data file, each with its number."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.errors import reason_in
from bench.external.contract import SuiteFault


def read_text(path: Path, *, what: str) -> str:
    """Return a data file as text.

    Raises:
        SuiteFault: It can't be read, or is no UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SuiteFault(path, [f"{what} can't be read: {reason_in(error)}"]) from error
    except UnicodeDecodeError as error:
        raise SuiteFault(path, [f"{what} is no UTF-8 text: {error}"]) from error


def objects(text: str, faults: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number and object of each filled line; others are noted in ``faults``."""
    # Only line feeds end a line: a prompt may hold U+2028 as it is.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.append(f"line {number}: no JSON: {error}")
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            faults.append(f"line {number}: a JSON {type(value).__name__} instead of an object")
