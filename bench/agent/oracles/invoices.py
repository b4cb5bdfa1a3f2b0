"""Checks of `agentic_bugfix_files`: invoices in exact fractions."""

from collections import defaultdict
from fractions import Fraction

from bench.agent.oracles.making import calls
from bench.agent.task import Check, Equals, Expectation, Json
from bench.seeds import SeededStream


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(14, label="coding task")
    invoices: list[Json] = [_invoice(draw) for _ in range(14)]
    invoices += [
        [],
        [_line(1, 33, 0, 7)] * 5,
        [_line(1, 2, 0, 19), _line(1, 4, 0, 7)] * 4,
        [_line(1, -5, 50, 0)],
        [_line(1, 15, 50, 0), _line(1, 25, 50, 7)],
        [_line(1, 45, 10, 0), _line(-1, 45, 10, 0)],
        [_line(1, 50, 0, 19), _line(-1, 50, 0, 19), _line(2, 99, 100, 7)],
        [_line(3, 3_002_399_751_580_333, 1, 19)],
    ]
    return calls("invoice", invoices, _solved)


def _invoice(draw: SeededStream) -> list[dict[str, int]]:
    return [
        _line(
            draw.pick((1, 2, 3, 7, -1)),
            draw.between(1, 999),
            draw.pick((0, 0, 5, 10, 15, 50)),
            draw.pick((0, 7, 19)),
        )
        for _ in range(draw.between(1, 6))
    ]


def _line(quantity: int, unit_cents: int, discount: int, tax: int) -> dict[str, int]:
    return {
        "quantity": quantity,
        "unit_cents": unit_cents,
        "discount_percent": discount,
        "tax_percent": tax,
    }


def _solved(lines: Json) -> Expectation:
    nets = [_net(line) for line in lines]
    sums: dict[int, int] = defaultdict(int)
    for line, net in zip(lines, nets, strict=True):
        sums[line["tax_percent"]] += net
    taxes = {str(rate): _rounded(Fraction(rate * total, 100)) for rate, total in sums.items()}
    return Equals(value={"nets": nets, "taxes": taxes, "total": sum(nets) + sum(taxes.values())})


def _net(line: dict[str, int]) -> int:
    gross = Fraction(line["quantity"] * line["unit_cents"])
    return _rounded(gross - gross * Fraction(line["discount_percent"], 100))


def _rounded(amount: Fraction) -> int:
    """Return the nearest whole number, of two the one away from zero."""
    low = amount.__floor__()
    return min((low, low + 1), key=lambda whole: (abs(amount - whole), -abs(whole)))
