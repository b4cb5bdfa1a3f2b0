"""Checks of `agentic_misleading_comment`: each tier is tried, as the contract says."""

from bench.agent.oracles.making import calls
from bench.agent.task import Check, Equals, Expectation, Json, Raises
from bench.seeds import SeededStream

_OWN = [[5_000, 990], [1_000, 490], [20_000, 1_890], [250, 250]]


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(13, label="coding task")
    tables = [_table(draw) for _ in range(16)]
    asked = [{"grams": _grams(draw, table), "tiers": table} for table in tables]
    asked += [
        {"grams": 100, "tiers": [[200, 70], [200, 50], [300, 10]]},
        {"grams": 200, "tiers": [[200, 70], [200, 50], [300, 90]]},
        {"grams": 5, "tiers": []},
    ]
    own = (1, 249, 250, 999, 1_000, 4_999, 5_000, 19_999, 20_000, 0, -3)
    return (
        *calls("price", asked, lambda given: _price(given["grams"], given["tiers"])),
        *calls("price_by_the_table", own, lambda grams: _price(grams, _OWN)),
    )


def _table(draw: SeededStream) -> list[list[int]]:
    limits = draw.sample(range(10, 90), 4)
    return [[limit, draw.between(100, 999)] for limit in limits]


def _grams(draw: SeededStream, table: list[list[int]]) -> int:
    return draw.pick([*(limit for limit, _ in table), draw.between(1, 100)])


def _price(grams: int, tiers: Json) -> Expectation:
    limit = next((limit for limit in sorted({limit for limit, _ in tiers}) if grams < limit), None)
    if limit is None or grams <= 0:
        return Raises(name="NotCarried")
    return Equals(value=min(cents for other, cents in tiers if other == limit))
