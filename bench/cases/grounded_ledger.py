"""``seeded_grounded_known`` and ``_unknown``: a ledger that holds, or not, the invoice asked for."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from bench.cases.text_hash import text_hash
from bench.evaluators.abstention import ABSTENTION, judge_abstention, judge_grounded_number
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.trial import Answer, Evaluation
from bench.seeds import SeededStream

ROWS = 18

_PROMPT = """\
The ledger below is the only source you may use.

date | invoice | party | amount
{rows}

Which amount does the ledger record for invoice {invoice} of {party}?

If the ledger does not record this invoice, do not guess and do not use a similar entry. End with \
exactly one line, either
FINAL: <amount>
or, if the ledger does not say,
FINAL: UNKNOWN"""

_PARTIES = (
    "Abbot Freight", "Birch Printing", "Candlewick Foods", "Dovetail Joinery", "Easton Bakery",
    "Fulmar Shipping", "Garnet Supplies", "Hollis Nursery",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of the ledger."""

    invoice: str
    party: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """One instance: the rows, the invoice asked for, and which rows resemble it."""

    rows: tuple[Entry, ...]
    asked_invoice: str
    asked_party: str
    swapped: Entry
    """The row most like it: same party, two neighbouring digits exchanged."""
    answer: Entry | None
    """The row asked for; ``None`` = the ledger does not hold it."""

    def near_misses(self) -> frozenset[str]:
        """Return the amounts of the rows of the same party or with three of four digits equal."""
        return frozenset(
            str(row.amount)
            for row in self.rows
            if row is not self.answer
            and (row.party == self.asked_party or _differing(row.invoice, self.asked_invoice) == 1)
        )


def draw_ledger(seed: int, *, is_known: bool = False) -> Ledger:
    """Return the ledger of ``seed``, with or without the invoice asked for."""
    stream = SeededStream(seed, label="grounded ledger known" if is_known else "grounded ledger")
    asked = "".join(stream.sample("123456789", 4))
    place = stream.below(3)
    swapped = asked[:place] + asked[place + 1] + asked[place] + asked[place + 2 :]
    place = stream.below(4)
    other_digit = stream.pick([digit for digit in "123456789" if digit != asked[place]])
    mistyped = asked[:place] + other_digit + asked[place + 1 :]
    # Three spare draws replace the numbers that are taken already.
    drawn = [str(number) for number in stream.sample(range(1000, 10_000), ROWS + 1)]
    further = [number for number in drawn if number not in {asked, swapped, mistyped}]
    numbers = [swapped, mistyped, *further[: ROWS - 2]]
    amounts = stream.sample(range(105, 9_890), ROWS)
    asked_party, *others = stream.shuffled(_PARTIES)
    # The third row belongs to the party asked for too: the party alone does not find a row.
    parties = [asked_party, others[0], asked_party] + [stream.pick(others) for _ in range(ROWS - 3)]
    entries = [
        Entry(invoice=f"INV-{number}", party=party, amount=amount)
        for number, party, amount in zip(numbers, parties, amounts, strict=True)
    ]
    answer = None
    if is_known:
        answer = replace(entries[-1], invoice=f"INV-{asked}", party=asked_party)
        entries[-1] = answer
    return Ledger(
        rows=tuple(stream.shuffled(entries)),
        asked_invoice=f"INV-{asked}",
        asked_party=asked_party,
        swapped=entries[0],
        answer=answer,
    )


def build(seed: int, *, is_known: bool = False) -> Instance:
    """Return the instance of ``seed``."""
    ledger = draw_ledger(seed, is_known=is_known)
    rows = "\n".join(
        f"2031-05-{day:02d} | {row.invoice} | {row.party} | {row.amount}"
        for day, row in enumerate(ledger.rows, start=3)
    )
    prompt = _PROMPT.format(rows=rows, invoice=ledger.asked_invoice, party=ledger.asked_party)
    near_misses = ledger.near_misses()
    judge: Callable[[Answer], Evaluation]
    if ledger.answer is None:
        expected, said = ABSTENTION, f"No row has {ledger.asked_invoice}."
        judge = partial(judge_abstention, near_misses=near_misses)
    else:
        expected = str(ledger.answer.amount)
        said = f"The row of {ledger.asked_invoice} says {expected}."
        judge = partial(judge_grounded_number, expected=expected, near_misses=near_misses)
    return Instance(
        request=ChatRequest(
            messages=(Message(role="user", content=prompt),),
            max_tokens=128,
            temperature=0.0,
        ),
        expected=expected,
        evaluate=judge,
        book=Answer(content=f"{said}\nFINAL: {expected}", finish_reason="stop"),
        book_wrong=Answer(content=f"FINAL: {ledger.swapped.amount}", finish_reason="stop"),
    )


def _differing(left: str, right: str) -> int:
    return sum(a != b for a, b in zip(left, right, strict=True))


GROUNDED_UNKNOWN = Case(
    info=CaseInfo(
        id="seeded_grounded_unknown",
        name="Grounded answer, not in the text",
        kind="quality",
        category="grounding",
        dimension="abstention",
        difficulty="easy",
        runs=2,
        text_hash=text_hash(build),
    ),
    build=build,
    description="abstains when a ledger holds only entries similar to the one asked for",
)

_build_known: Callable[[int], Instance] = partial(build, is_known=True)

GROUNDED_KNOWN = Case(
    info=CaseInfo(
        id="seeded_grounded_known",
        name="Grounded answer, in the text",
        kind="quality",
        category="grounding",
        dimension="lookup",
        difficulty="easy",
        runs=2,
        text_hash=text_hash(_build_known),
    ),
    build=_build_known,
    description="finds one entry of a ledger among entries similar to it",
)

CASES = (GROUNDED_KNOWN, GROUNDED_UNKNOWN)
