"""`{{name}}` in texts: which values there are, which of them a seed gets, and the putting in. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.seeds import SeededStream
from bench.usercases.fields import Table, listed, mapping, whole

_PLACE = re.compile(r"(\\?)\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}")
_MOST = 2**53 - 1

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """What may stand in a case's texts."""

    choices: Mapping[str, Sequence[Any]]
    """By name; one value for each seed is drawn. A range of whole numbers is a choice too."""
    rows: Sequence[Values]
    """Values that belong together; seed N gets row N modulo their number."""

    @property
    def names(self) -> frozenset[str]:
        """All names."""
        return frozenset(self.choices).union(*self.rows[:1])

    def at(self, seed: int) -> Values:
        """Return the values of one seed; the same on every machine."""
        drawn = {
            name: SeededStream(seed, label=f"variable {name}").pick(options)
            for name, options in self.choices.items()
        }
        return {**drawn, **(self.rows[seed % len(self.rows)] if self.rows else {})}

    def samples(self) -> Iterator[Values]:
        """Yield values in which every option of every variable stands at least once."""
        ends = {
            # Of a range its ends say enough: everything between is as long and as whole.
            name: (options[0], options[-1]) if isinstance(options, range) else options
            for name, options in self.choices.items()
        }
        depth = max((len(one) for one in (*ends.values(), self.rows)), default=0)
        for index in range(max(depth, 1)):
            chosen = {name: options[index % len(options)] for name, options in ends.items()}
            yield {**chosen, **(self.rows[index % len(self.rows)] if self.rows else {})}


def read_variables(case: Table) -> Variables:
    """Return what `variables` and `rows` of a case say."""
    choices: dict[str, Sequence[Any]] = {}
    table = case.take("variables", mapping) or {}
    place = case.place_of("variables")
    for name, raw in table.items():
        options = _options(raw, (*place, name), case)
        if not _PLACE.fullmatch("{{" + name + "}}"):
            case.faults.add((*place, name), f"`{name}` is no name: letters, digits, `_`, `-`")
        elif options:
            choices[name] = options
    rows = [row for row in case.take("rows", listed) or [] if _is_row(row, case)]
    for row in rows:
        if set(row) != set(rows[0]):
            missing = ", ".join(sorted(set(row) ^ set(rows[0])))
            case.faults.add(case.place_of("rows"), f"not every row has the same names: {missing}")
            break
    for name in set(choices).intersection(*rows[:1]) if rows else ():
        case.faults.add((*place, name), f"`{name}` is a variable and a name of the rows")
    return Variables(choices=choices, rows=rows)


def unknown_names(value: object, known: frozenset[str]) -> list[str]:
    """Return the names that texts inside ``value`` ask for and nobody gives."""
    if isinstance(value, str):
        asked = (match[2] for match in _PLACE.finditer(value) if not match[1])
        return [name for name in dict.fromkeys(asked) if name not in known]
    if isinstance(value, Mapping):
        return [name for one in value.values() for name in unknown_names(one, known)]
    if isinstance(value, list | tuple):
        return [name for one in value for name in unknown_names(one, known)]
    return []


def filled(value: Any, values: Values) -> Any:  # noqa: ANN401 - any plain value
    r"""Return ``value`` with every `{{name}}` replaced; a text that is one place keeps the type.

    `\{{name}}` stays as `{{name}}`.
    """
    if isinstance(value, str):
        whole_place = _PLACE.fullmatch(value)
        if whole_place is not None and not whole_place[1]:
            return values.get(whole_place[2], value)
        return _PLACE.sub(lambda match: _put(match, values), value)
    if isinstance(value, Mapping):
        return {key: filled(one, values) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [filled(one, values) for one in value]
    return value


def as_text(value: object) -> str:
    """Return a value as it stands in a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _put(match: re.Match[str], values: Values) -> str:
    if match[1]:
        return match[0][1:]
    return as_text(values[match[2]]) if match[2] in values else match[0]


def _options(raw: object, place: tuple[str | int, ...], case: Table) -> Sequence[Any] | None:
    if isinstance(raw, Mapping):
        bounds = Table(raw, place, case.faults, kind="range")
        first, last = (bounds.need(name, whole(-_MOST, _MOST)) for name in ("from", "to"))
        bounds.finish()
        if first is None or last is None:
            return None
        if last < first:
            case.faults.add(place, f"the range ends at {last}, before it begins at {first}")
            return None
        return range(first, last + 1)
    options = raw if isinstance(raw, list) else [raw]
    if not options or not all(isinstance(one, str | int | float | bool) for one in options):
        case.faults.add(place, "a text, a number, a list of them or `{from, to}` is needed")
        return None
    return options


def _is_row(row: object, case: Table) -> bool:
    is_row = isinstance(row, Mapping) and bool(row)
    if not is_row or not all(
        isinstance(one, str | int | float | bool | list | dict)
        for one in (row.values() if isinstance(row, Mapping) else ())
    ):
        case.faults.add(case.place_of("rows"), "a row is a table of names and values")
        return False
    return is_row
