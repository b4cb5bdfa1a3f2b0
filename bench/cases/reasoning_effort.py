"""``reasoning_effort_none|low|high``: one assignment problem, asked with three efforts."""

from dataclasses import dataclass
from functools import partial

from bench.cases.cheapest_assignment import Costs, cheapest, row_by_row
from bench.cases.text_hash import text_hash
from bench.evaluators.final_answer import judge_number
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.trial import Answer
from bench.seeds import SeededStream

EFFORTS = ("none", "low", "high")
SIZE = 5
MIN_LOSS = 5
"""How much more the obvious way costs at least: it is no near tie."""

_PROMPT = """\
Five translators get five texts, one each. The hours that each would need for text 1, 2, 3, 4, 5:

{rows}

Choose who gets which text so that the hours of all five together are as few as possible. How \
many are they?

End with exactly one line of this form:
FINAL: <hours as a whole number>"""

_NAMES = ("Ada", "Bruno", "Clara", "Denis", "Edith", "Felix", "Greta", "Hugo", "Ida", "Jonas")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bureau:
    """One instance."""

    names: tuple[str, ...]
    hours: tuple[tuple[int, ...], ...]
    """By translator and text."""
    texts: tuple[int, ...]
    """The text of each translator in the only best choice, from 1."""
    best: int
    hasty: int
    """What it costs when each in turn takes the shortest text that is left; above ``best``."""


def draw_bureau(seed: int) -> Bureau:
    """Return the instance of ``seed``: drawn until the best choice is the only and no hasty one.

    About two of three drawings qualify.
    """
    stream = SeededStream(seed, label="reasoning effort")
    while True:
        hours: Costs = [[stream.between(11, 69) for _ in range(SIZE)] for _ in range(SIZE)]
        best, hasty = cheapest(hours), row_by_row(hours)
        if best.ways == 1 and hasty - best.cost >= MIN_LOSS:
            return Bureau(
                names=tuple(stream.sample(_NAMES, SIZE)),
                hours=tuple(tuple(row) for row in hours),
                texts=tuple(column + 1 for column in best.columns),
                best=best.cost,
                hasty=hasty,
            )


def _build(seed: int, *, effort: str) -> Instance:
    bureau = draw_bureau(seed)
    rows = "\n".join(
        f"{name}: {', '.join(map(str, row))}"
        for name, row in zip(bureau.names, bureau.hours, strict=True)
    )
    choice = ", ".join(
        f"{name} text {text}" for name, text in zip(bureau.names, bureau.texts, strict=True)
    )
    expected = str(bureau.best)
    return Instance(
        request=ChatRequest(
            messages=(Message(role="user", content=_PROMPT.format(rows=rows)),),
            max_tokens=1_024,
            temperature=0.0,
            reasoning_effort=effort,
        ),
        expected=expected,
        evaluate=partial(judge_number, expected=expected),
        book=Answer(content=f"{choice}.\nFINAL: {expected}", finish_reason="stop"),
        book_wrong=Answer(content=f"FINAL: {bureau.hasty}", finish_reason="stop"),
    )


def _case(effort: str) -> Case:
    build = partial(_build, effort=effort)
    return Case(
        info=CaseInfo(
            id=f"reasoning_effort_{effort}",
            name=f"Reasoning effort: {effort}",
            kind="quality",
            category="reasoning",
            dimension="reasoning effort",
            difficulty="hard",
            seed_group="reasoning_effort",
            runs=2,
            text_hash=text_hash(build),
        ),
        build=build,
        description=f"solves an assignment problem at effort `{effort}`; the others ask the same",
    )


CASES = tuple(map(_case, EFFORTS))
