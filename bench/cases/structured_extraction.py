"""``seeded_structured_extraction``: one order out of a corrected note, as an ordered JSON object."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from bench.cases.text_hash import text_hash
from bench.evaluators.json_object import judge_json_object
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.trial import Answer
from bench.seeds import SeededStream

_PROMPT = """\
Extract order {order} from the dispatch note below as one JSON object.

The object has these eight keys, in this order:
1. "order": string
2. "customer": string
3. "city": string
4. "crates": integer
5. "weight_kg": integer
6. "dock": integer
7. "fragile": true if the note says that the goods can break, else false
8. "checksum": integer, computed as 3 * crates + weight_kg + dock

Where the note corrects a figure, use the corrected figure, in the checksum too.

--- dispatch note ---
{note}
--- end of note ---

Reply with the JSON object and nothing else: no code fence, no words before or after it."""

_CUSTOMERS = (
    "Alder & Sons", "Bellwether Tiles", "Copperline", "Drift Ceramics", "Emberley Glass",
    "Fennick Tools", "Greyhollow Mills", "Hartwin Lamps", "Ironbridge Paper", "Juniper Optics",
)  # fmt: skip
_CITIES = (
    "Aldport", "Bremley", "Corvane", "Dresk", "Elmstead", "Fairholt", "Gravesby", "Harlow Bay",
    "Ilverton", "Keldon",
)  # fmt: skip
_FIGURES = {
    "crates": "the number of crates",
    "weight_kg": "the total weight in kg",
    "dock": "the number of the dock",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One order of the note; the fields are the keys asked for, in their order."""

    order: str
    customer: str
    city: str
    crates: int
    weight_kg: int
    dock: int
    fragile: bool

    def extracted(self) -> dict[str, Any]:
        """Return the object asked for, checksum included."""
        return asdict(self) | {"checksum": 3 * self.crates + self.weight_kg + self.dock}


def build(seed: int) -> Instance:
    """Return the instance of ``seed``."""
    stream = SeededStream(seed, label="structured extraction")
    final = _draw_orders(stream)
    figure, other_figure = stream.sample(tuple(_FIGURES), 2)
    first = [
        _before_correction(stream, final[0], figure),
        _before_correction(stream, final[1], other_figure),
        final[2],
    ]
    note = [_entry(order) for order in stream.shuffled(first)]
    note += stream.shuffled(
        [
            _correction(first[0], final[0], figure),
            _correction(first[1], final[1], other_figure),
        ]
    )
    wanted = final[0].extracted()
    return Instance(
        request=ChatRequest(
            messages=(
                Message(
                    role="user",
                    content=_PROMPT.format(order=final[0].order, note="\n".join(note)),
                ),
            ),
            max_tokens=256,
            temperature=0.0,
            reasoning_effort="none",
        ),
        expected=json.dumps(wanted),
        evaluate=partial(judge_json_object, expected=wanted),
        book=Answer(content=json.dumps(wanted), finish_reason="stop"),
        book_wrong=Answer(content=json.dumps(first[0].extracted()), finish_reason="stop"),
    )


def _draw_orders(stream: SeededStream) -> list[Order]:
    """Return three orders that share no figure; the first is the one asked for."""
    customers, cities = stream.sample(_CUSTOMERS, 3), stream.sample(_CITIES, 3)
    crates, docks = stream.sample(range(21, 80), 3), stream.sample(range(2, 12), 3)
    weights = stream.sample(range(301, 890), 3)
    numbers = _similar_numbers(stream)
    fragile = stream.shuffled((True, False))
    return [
        Order(
            order=numbers[index],
            customer=customers[index],
            city=cities[index],
            crates=crates[index],
            weight_kg=weights[index],
            dock=docks[index],
            fragile=(*fragile, stream.below(2) == 1)[index],
        )
        for index in range(3)
    ]


def _similar_numbers(stream: SeededStream) -> Sequence[str]:
    """Return three order numbers of the same digits in other orders."""
    a, b, c, d = stream.sample("123456789", 4)
    return f"QK-{a}{b}{c}{d}", f"QK-{a}{c}{b}{d}", f"QK-{b}{a}{c}{d}"


def _before_correction(stream: SeededStream, order: Order, figure: str) -> Order:
    """Return the order as first written: one figure off by a little, in the same range."""
    changed: dict[str, Any] = {figure: getattr(order, figure) + stream.between(1, 9)}
    return replace(order, **changed)


def _entry(order: Order) -> str:
    state = "contains parts that break easily" if order.fragile else "nothing in it can break"
    return (
        f"Order {order.order} for {order.customer}, going to {order.city}: {order.crates} crates, "
        f"{order.weight_kg} kg in total, leaves from dock {order.dock}; {state}."
    )


def _correction(first: Order, final: Order, figure: str) -> str:
    return (
        f"Correction to order {final.order}: {_FIGURES[figure]} is {getattr(final, figure)}, "
        f"not {getattr(first, figure)}. The rest stands."
    )


STRUCTURED_EXTRACTION = Case(
    info=CaseInfo(
        id="seeded_structured_extraction",
        name="Structured extraction",
        kind="quality",
        category="extraction",
        dimension="structured output",
        difficulty="medium",
        runs=2,
        text_hash=text_hash(build),
    ),
    build=build,
    description="extracts one order as a JSON object with ordered keys and a checksum",
)

CASES = (STRUCTURED_EXTRACTION,)
