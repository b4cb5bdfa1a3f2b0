"""Fill ``{name}`` places in arguments, variables, headers and generated files. Pure.

Only lower-case names between single braces are places, so JSON and shell text pass through.
"""

import json
import re
from collections.abc import Iterable, Mapping

_PLACE = re.compile(r"\{([a-z][a-z_]*)\}")

PLACES = frozenset(
    {
        "python",
        "host",
        "port",
        "url",
        "base_url",
        "token",
        "generated",
        "answer_book",
        "upstream_url",
        "upstream_base_url",
        "upstream_token",
    }
)
"""Places that a description may use anywhere; ``NAME_json`` is the same as a JSON string."""

MODEL_PLACES = frozenset({"model", "openai_model"})
"""Places of the part of a generated file that is repeated for each model."""


def unknown_places(text: str, *, extra: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the places in ``text`` that no run fills, in order of appearance."""
    known = PLACES | set(extra)
    found = dict.fromkeys(_PLACE.findall(text))
    return tuple(name for name in found if name.removesuffix("_json") not in known)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return ``text`` with each place of ``values`` filled; other places stay as they are."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in values:
            return values[name]
        plain = name.removesuffix("_json")
        return json.dumps(values[plain]) if plain in values else match.group(0)

    return _PLACE.sub(value, text)


def fill_per_model(text: str, each: str, models: Iterable[str], values: Mapping[str, str]) -> str:
    """Return a generated file: ``{each_model}`` in ``text`` becomes one ``each`` per model."""
    blocks = [
        fill(each.strip("\n"), {**values, "model": model, "openai_model": f"openai/{model}"})
        for model in models
    ]
    return fill(text.lstrip("\n"), {**values, "each_model": "\n".join(blocks)})
