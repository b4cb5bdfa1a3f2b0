"""Checks of `agentic_api_change`: what the office computed before, from metres."""

from bench.agent.oracles.making import calls
from bench.agent.task import Check, Equals, Expectation, Json, Raises
from bench.seeds import SeededStream

_REACH_KM = 5
_CLOSE_CALLS: tuple[Json, ...] = (
    {"place": [0, 0], "cars": {"ann": [5_400, 0]}},
    {"place": [0, 0], "cars": {"ann": [6_000, 0]}},
    {"place": [0, 0], "cars": {"bob": [1_200, 0], "ann": [1_900, 0]}},
    {"place": [0, 0], "cars": {}},
)


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(15, label="coding task")
    pairs = [[_point(draw), _point(draw)] for _ in range(5)]
    by_unit = [{"points": pair, "unit": unit} for pair in pairs[:2] for unit in ("m", "km", "mi")]
    return (
        *calls("metres", pairs, lambda pair: Equals(value=_metres(pair))),
        *calls("metres_by_name", by_unit, _by_unit),
        *calls("unit_by_position", by_unit[:2], lambda _given: Raises(name="TypeError")),
        *calls("fare", pairs, lambda pair: Equals(value=_fare(pair))),
        *calls("nearest", [*_CLOSE_CALLS, *(_office(draw) for _ in range(6))], _nearest),
        *calls("line", [{"driver": "ann", "points": pair} for pair in pairs], _line),
        *calls("summary", [[], *([_point(draw) for _ in range(4)] for _ in range(3))], _summary),
        *calls("show", [{"name": "way", "points": pair} for pair in pairs], _shown),
    )


def _point(draw: SeededStream) -> list[int]:
    return [draw.between(-3_999, 3_999), draw.between(-3_999, 3_999)]


def _office(draw: SeededStream) -> Json:
    cars = {name: _point(draw) for name in draw.sample(("ann", "bob", "cem", "dee", "eve"), 3)}
    return {"place": _point(draw), "cars": cars}


def _metres(pair: Json) -> int:
    return sum(max(ends) - min(ends) for ends in zip(*pair, strict=True))


def _km(pair: Json) -> int:
    return _metres(pair) // 1_000


def _fare(pair: Json) -> int:
    return 390 + 210 * _km(pair)


def _by_unit(given: Json) -> Expectation:
    if given["unit"] == "mi":
        return Raises(name="ValueError")
    return Equals(value=(_km if given["unit"] == "km" else _metres)(given["points"]))


def _nearest(given: Json) -> Expectation:
    ways = {name: _km([given["place"], at]) for name, at in given["cars"].items()}
    for km in range(_REACH_KM + 1):
        for name in sorted(ways):
            if ways[name] == km:
                return Equals(value=name)
    return Equals(value=None)


def _line(given: Json) -> Expectation:
    return Equals(value=f"{given['driver']}: {_km(given['points'])} km")


def _summary(ends: Json) -> Expectation:
    ways = [_km([[0, 0], end]) for end in ends]
    return Equals(value={"sum": sum(ways), "longest": max([0, *ways])})


def _shown(given: Json) -> Expectation:
    return Equals(value=f"{_km(given['points'])} km")
