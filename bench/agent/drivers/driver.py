"""Calls candidate code inside the sandbox and writes what came back, one JSON line per call.

Runs beside hostile code, so it knows inputs only: no expected value, no verdict. Whatever the
candidate does to this process can change nothing but the data that leaves it.

Standard input: ``{"probe": PATH, "calls": [{"id", "probe", "input"}, …]}``. Standard output: lines
``{"id", "value"}``, ``{"id", "raised": [class names], "message"}`` or ``{"id", "unplain": TYPE}``.
What candidate code prints goes to standard error.
"""

import importlib.util
import json
import math
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

Json = Any

MESSAGE_LENGTH = 200


class NotPlainError(Exception):
    """A value that JSON does not hold as it is."""


def plain(value: Json) -> Json:
    """Return ``value`` made of exact JSON types; tuples become lists.

    Raises:
        NotPlainError: Something else is in it: a set, a number that is none, a subclass.
    """
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float and math.isfinite(value):
        return value
    if kind in (list, tuple):
        return [plain(item) for item in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: plain(item) for key, item in value.items()}
    raise NotPlainError(kind.__name__)


def load(path: str) -> ModuleType:
    """Import the probe, and with it whatever it imports of the candidate."""
    spec = importlib.util.spec_from_file_location("probe", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def attempt(call: Callable[[], Json]) -> dict[str, Json]:
    """Return what ``call`` came to, as data."""
    try:
        return {"value": plain(call())}
    except NotPlainError as error:
        return {"unplain": str(error)}
    except BaseException as error:  # noqa: BLE001 - candidate code may end in any way, SystemExit too
        return {"raised": [cls.__name__ for cls in type(error).__mro__], "message": words(error)}


def words(error: BaseException) -> str:
    """Return the error's text, shortened; candidate classes may break even that."""
    try:
        return str(error)[:MESSAGE_LENGTH]
    except BaseException:  # noqa: BLE001 - `__str__` is candidate code too
        return ""


def main() -> None:
    """Answer every call in order and leave without running what candidate code left behind."""
    order = json.loads(sys.stdin.buffer.read())
    channel = os.dup(1)
    os.dup2(2, 1)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - no import that candidate code could shadow
    loaded: list[ModuleType] = []
    for call in order["calls"]:

        def run(name: str = call["probe"], given: Json = call["input"]) -> Json:
            if not loaded:
                loaded.append(load(order["probe"]))
            return getattr(loaded[0], name)(given)

        line = json.dumps({"id": call["id"], **attempt(run)}, allow_nan=False)
        data = line.encode() + b"\n"
        while data:
            data = data[os.write(channel, data) :]
    os._exit(0)  # atexit and threads of the candidate do not run


if __name__ == "__main__":
    main()
