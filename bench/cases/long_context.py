"""``seeded_long_context_needles``: three records out of 240, their amounts added."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

from bench.cases.text_hash import text_hash
from bench.evaluators.final_answer import judge_number
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.trial import Answer
from bench.seeds import SeededStream

RECORDS = 240
NEEDLES = 3
DECOYS = 6
"""Entries whose seal differs in one letter from the one asked for."""
OTHER_SEALS = 77
"""Each is borne by three entries too: how often a seal occurs gives nothing away."""

_PROMPT = """\
Below are {count} entries from the log of a warehouse.

{records}

Exactly {needles} of these entries bear the seal {seal}. Add up the crates of these {needles} \
entries; entries with any other seal do not count.

Name the {needles} figures briefly. Then end with exactly one line of this form:
FINAL: <sum as a whole number>"""

_GOODS = (
    "almonds", "brackets", "candles", "door handles", "enamel", "felt", "glue", "hinges", "ink",
    "jars", "kettles", "lamp oil",
)  # fmt: skip
_ORIGINS = (
    "Aldport", "Bremley", "Corvane", "Dresk", "Elmstead", "Fairholt", "Gravesby", "Harlow Bay",
)  # fmt: skip
_CLERKS = ("Adair", "Bloom", "Corley", "Dane", "Everett", "Foss", "Grant", "Hale")
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Haystack:
    """One instance."""

    seal: str
    """The seal asked for."""
    needles: tuple[tuple[int, int], ...]
    """Number and crates of the entries that bear it, in order; one in each third of the log."""
    decoy_crates: tuple[int, ...]
    """Crates of the entries whose seal differs in one letter."""
    records: tuple[str, ...]

    @property
    def total(self) -> int:
        """The sum asked for."""
        return sum(crates for _, crates in self.needles)


def draw_haystack(seed: int) -> Haystack:
    """Return the log of ``seed``."""
    stream = SeededStream(seed, label="long context needles")
    seal = "".join(stream.sample(_LETTERS, 4))
    third = RECORDS // NEEDLES
    places = [part * third + stream.below(third) for part in range(NEEDLES)]
    others = stream.shuffled([place for place in range(RECORDS) if place not in places])
    seals = dict.fromkeys(places, seal)
    seals |= {place: _similar_seal(stream, seal) for place in others[:DECOYS]}
    further = [_other_seal(stream, seal) for _ in range(OTHER_SEALS)] * NEEDLES
    seals |= dict(zip(others[DECOYS:], further, strict=True))
    contents = [_draw_content(stream) for _ in range(RECORDS)]
    return Haystack(
        seal=seal,
        needles=tuple((place + 1, contents[place].crates) for place in places),
        decoy_crates=tuple(contents[place].crates for place in others[:DECOYS]),
        records=tuple(
            f"Entry {place + 1:03d}: {content.told}, seal {seals[place]}."
            for place, content in enumerate(contents)
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    crates: int
    told: str


def _draw_content(stream: SeededStream) -> _Content:
    # One draw is dealt out among the parts: 240 entries are drawn for each instance.
    parts: tuple[Sequence[int | str], ...] = (
        range(101, 900),
        range(1, 10),
        _GOODS,
        _ORIGINS,
        _CLERKS,
    )
    left, picked = stream.below(prod(map(len, parts))), []
    for part in parts:
        left, at = divmod(left, len(part))
        picked.append(part[at])
    crates, dock, goods, origin, clerk = picked
    return _Content(
        crates=int(crates),
        told=f"dock {dock} took in {crates} crates of {goods} from {origin}, checked by {clerk}",
    )


def build(seed: int) -> Instance:
    """Return the instance of ``seed``."""
    haystack = draw_haystack(seed)
    figures = [crates for _, crates in haystack.needles]
    expected = str(haystack.total)
    return Instance(
        request=ChatRequest(
            messages=(
                Message(
                    role="user",
                    content=_PROMPT.format(
                        count=RECORDS,
                        needles=NEEDLES,
                        seal=haystack.seal,
                        records="\n".join(haystack.records),
                    ),
                ),
            ),
            max_tokens=256,
            temperature=0.0,
        ),
        expected=expected,
        evaluate=partial(judge_number, expected=expected),
        book=Answer(
            content=f"{' + '.join(map(str, figures))} = {expected}\nFINAL: {expected}",
            finish_reason="stop",
        ),
        # The middle of a long text is what gets lost.
        book_wrong=Answer(content=f"FINAL: {figures[0] + figures[-1]}", finish_reason="stop"),
    )


def _other_seal(stream: SeededStream, seal: str) -> str:
    """Return a seal that shares at most two places with the one asked for."""
    while True:
        drawn = "".join(stream.sample(_LETTERS, 4))
        if sum(a == b for a, b in zip(drawn, seal, strict=True)) <= 2:  # noqa: PLR2004 - see above
            return drawn


def _similar_seal(stream: SeededStream, seal: str) -> str:
    place = stream.below(len(seal))
    letter = stream.pick([letter for letter in _LETTERS if letter not in seal])
    return seal[:place] + letter + seal[place + 1 :]


LONG_CONTEXT_NEEDLES = Case(
    info=CaseInfo(
        id="seeded_long_context_needles",
        name="Needles in a long context",
        kind="quality",
        category="grounding",
        dimension="long context",
        difficulty="hard",
        runs=1,
        text_hash=text_hash(build),
    ),
    build=build,
    description="finds three of 240 records by an exact mark and adds their figures",
)

CASES = (LONG_CONTEXT_NEEDLES,)
