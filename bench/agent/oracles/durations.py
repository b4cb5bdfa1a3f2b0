"""Checks of `agentic_feature_small`: durations are built from parts, so their seconds are known."""

from collections.abc import Mapping

from bench.agent.oracles.making import calls
from bench.agent.task import Check, Equals, Expectation, Raises
from bench.seeds import SeededStream

_SIZES = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_NONSENSE = (
    "",
    " ",
    "12",
    "h",
    "1 h",
    "1s 2m",
    "1m 2m",
    "2h1d",
    "-5m",
    "+5m",
    "1.5h",
    "1h,2m",
    "1h\t2m",
    "1h\n",
    "5w",
    "٣m",
    "²s",
    "1_0s",
    "1h x",
    "0x1s",
    "1hm",
)


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(12, label="coding task")
    texts = dict(_built(draw) for _ in range(16))
    texts |= {"90m": 5_400, "0s": 0, "  007H  ": 25_200, "1d1h1m1s": 90_061, "0d 5s": 5}
    written = [draw.between(0, 400_000) for _ in range(4)]
    return (
        *calls("parse", [*texts, *_NONSENSE], lambda text: _read(text, texts)),
        *calls("parse_in_its_module", ["2m"], lambda _text: Equals(value=120)),
        *calls("write", written, lambda seconds: Equals(value=_written(seconds))),
    )


def _read(text: str, known: Mapping[str, int]) -> Expectation:
    return Equals(value=known[text]) if text in known else Raises(name="ValueError")


def _built(draw: SeededStream) -> tuple[str, int]:
    units = [unit for unit in _SIZES if draw.below(100) < 60] or ["s"]  # noqa: PLR2004 - a share
    numbers = [draw.between(0, 120) for _ in units]
    cased = [draw.pick((unit, unit.upper())) for unit in units]
    parts = [f"{number}{unit}" for number, unit in zip(numbers, cased, strict=True)]
    text = draw.pick(("", " ", "   ")).join(parts)
    return text, sum(number * _SIZES[unit] for number, unit in zip(numbers, units, strict=True))


def _written(seconds: int) -> str:
    sizes = (seconds // 86_400, seconds // 3_600 % 24, seconds // 60 % 60, seconds % 60)
    parts = [f"{number}{unit}" for number, unit in zip(sizes, "dhms", strict=True) if number]
    return " ".join(parts) or "0s"
