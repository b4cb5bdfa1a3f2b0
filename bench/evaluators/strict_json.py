"""JSON as the standard has it: no NaN, no Infinity, no key twice; bounded in size and depth."""

import json
from typing import Any, NoReturn

from bench.evaluators.excerpt import MAX_JUDGED_CHARACTERS


class NotJson(ValueError):
    """The text is not one JSON value; the message says why."""


def parse_strict(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of ``text``; objects keep the order of their keys.

    Raises:
        NotJson: The text is too long or too deep, breaks the grammar, or names a key twice.
    """
    if len(text) > MAX_JUDGED_CHARACTERS:
        message = f"{len(text)} characters, more than the {MAX_JUDGED_CHARACTERS} that are read"
        raise NotJson(message)
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except ValueError as error:
        raise NotJson(str(error)) from error


def same_value(seen: object, wanted: object) -> bool:
    """Return whether two JSON values are equal: ``true`` is not 1, but 3.0 is 3.

    Recursion follows ``wanted``, so a hostile ``seen`` can't make it deep.
    """
    if isinstance(seen, bool) or isinstance(wanted, bool):
        return seen is wanted
    if isinstance(wanted, dict):
        return (
            isinstance(seen, dict)
            and seen.keys() == wanted.keys()
            and all(same_value(seen[key], value) for key, value in wanted.items())
        )
    if isinstance(wanted, list):
        return (
            isinstance(seen, list)
            and len(seen) == len(wanted)
            and all(map(same_value, seen, wanted))
        )
    return seen == wanted


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise NotJson("an object names a key twice")
    return value


def _refuse(constant: str) -> NoReturn:
    message = f"`{constant}` is no JSON"
    raise NotJson(message)
