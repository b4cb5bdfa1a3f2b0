"""Just enough of msgspec for ``bench.cases`` on a Python that has none: records and ``replace``."""

import copy
import inspect
from types import SimpleNamespace
from typing import Any


class Struct:  # noqa: PLW1641 -- records with changeable parts have no hash
    """A record with keyword fields and defaults."""

    def __init_subclass__(cls, **_options: object) -> None:  # type: ignore[explicit-override]
        """Take the options that a record is declared with."""

    def __init__(self, **values: Any) -> None:
        for name in _names(type(self)):
            given = values.pop(name) if name in values else copy.copy(getattr(type(self), name))
            self.__dict__[name] = given
        assert not values, f"no such fields: {sorted(values)}"

    def __eq__(self, other: object) -> bool:  # type: ignore[explicit-override]
        return type(self) is type(other) and self.__dict__ == other.__dict__


def _names(kind: type) -> tuple[str, ...]:
    bases = [base for base in reversed(kind.__mro__) if base is not object]
    return tuple(dict.fromkeys(name for base in bases for name in inspect.get_annotations(base)))


def _replace(record: Struct, **changes: Any) -> Any:
    return type(record)(**(record.__dict__ | changes))


structs = SimpleNamespace(replace=_replace)
