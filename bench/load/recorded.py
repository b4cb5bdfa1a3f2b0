"""A recorded arrival trace: when requests came, and how long they and their answers were.

Two formats, told apart by the first character; both as published by their makers:

- JSON lines (Mooncake): ``timestamp`` in milliseconds, ``input_length`` and ``output_length`` in
  tokens; ``{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [...]}``.
- CSV with a header (Azure LLM inference): ``TIMESTAMP`` as a date, ``ContextTokens``,
  ``GeneratedTokens``.

Other columns are left alone. Sources: https://github.com/kvcache-ai/Mooncake,
https://github.com/Azure/AzurePublicDataset.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from bench.errors import UsageFault
from bench.model.record import Value

_TIMES = ("timestamp", "TIMESTAMP", "arrived_at_ms")
_INPUTS = ("input_length", "ContextTokens", "prompt_tokens")
_OUTPUTS = ("output_length", "GeneratedTokens", "completion_tokens")
MOST_REQUESTS = 1_000_000
MOST_DAYS = 366
_MS_PER_DAY = 86_400_000
_MOST_TOKENS = 10_000_000
_LONG_FRACTION = re.compile(r"(\.[0-9]{6})[0-9]+")
"""Azure's dates have seven digits of a second, which Python 3.11 does not take."""


class Trace(Value, frozen=True, kw_only=True):
    """Requests in the order in which they came."""

    offsets_ms: tuple[float, ...]
    """Ascending; the first is 0."""
    input_tokens: tuple[int | None, ...]
    """As many, or none where the trace has no lengths."""
    output_tokens: tuple[int | None, ...]


def read_trace(text: str, *, speed: float = 1.0) -> Trace:
    """Return the trace in ``text``.

    Args:
        text: The whole file.
        speed: 2 = twice as fast: every gap is divided by it. Above 0.

    Raises:
        UsageFault: With the line that can't be read, or what is missing.
    """
    text = text.removeprefix("\ufeff")
    rows = _json_rows(text) if text.lstrip().startswith("{") else _csv_rows(text)
    entries = sorted(_entries(rows), key=lambda entry: entry[0])
    if not entries:
        raise UsageFault("the trace holds no request", hint="see docs/load.md for its formats")
    begin = entries[0][0]
    days = (entries[-1][0] - begin) / speed / _MS_PER_DAY
    if days > MOST_DAYS:
        message = f"the trace takes {days:.3g} days, and at most {MOST_DAYS} are replayed"
        raise UsageFault(message, hint="are its times milliseconds? `--trace-speed` shortens it")
    inputs = tuple(entry[1] for entry in entries)
    outputs = tuple(entry[2] for entry in entries)
    return Trace(
        offsets_ms=tuple(round((at - begin) / speed, 3) for at, _, _ in entries),
        input_tokens=inputs if any(inputs) else (),
        output_tokens=outputs if any(outputs) else (),
    )


def _entries(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
) -> Iterator[tuple[float, int | None, int | None]]:
    for line, row in rows:
        if line > MOST_REQUESTS:
            message = f"the trace has more than {MOST_REQUESTS:,} lines"
            raise UsageFault(message, hint="cut it: a run replays a part of a day, not a year")
        at = _first(row, _TIMES)
        if at is None:
            message = f"line {line} of the trace has no `timestamp`"
            raise UsageFault(message, hint="see docs/load.md for its formats")
        yield (
            _moment_ms(at, line),
            _tokens(_first(row, _INPUTS), line),
            _tokens(_first(row, _OUTPUTS), line),
        )


def _json_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, raw in enumerate(text.split("\n"), start=1):  # a JSON text may hold U+2028
        if not raw.strip():
            continue
        try:
            row = msgspec.json.decode(raw)
        except (msgspec.DecodeError, RecursionError) as fault:
            message = f"line {line} of the trace is no JSON: {fault}"
            raise UsageFault(message) from fault
        if not isinstance(row, dict):
            message = f"line {line} of the trace is no JSON object"
            raise UsageFault(message)
        yield line, row


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(text.splitlines())
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as fault:
        message = f"line {reader.line_num} of the trace can't be read: {fault}"
        raise UsageFault(message) from fault


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> object:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _moment_ms(value: object, line: int) -> float:
    """Return milliseconds: a number as it is, a date since 1970."""
    at = _number(value)
    if at is None and isinstance(value, str):
        try:
            at = _date_ms(value.strip())
        except ValueError:
            at = None
    if at is None:
        message = f"line {line} of the trace: `{str(value)[:40]}` is no time"
        raise UsageFault(message, hint="milliseconds, or a date such as `2026-03-01 09:30:00.5`")
    return at


def _date_ms(text: str) -> float:
    """Return a date in milliseconds; one without a zone as of UTC, which has no hour twice.

    Raises:
        ValueError: It is none.
    """
    at = datetime.fromisoformat(_LONG_FRACTION.sub(r"\1", text))
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1e3


def _tokens(value: object, line: int) -> int | None:
    if value is None:
        return None
    number = _number(value)
    if number is None or not 0 <= number <= _MOST_TOKENS:
        message = f"line {line} of the trace: `{str(value)[:40]}` is no number of tokens"
        raise UsageFault(message)
    return max(1, int(number))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
