"""``seeded_shortest_path`` and its paraphrase: one network, told in two ways."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bench.cases.road_network import RoadNetwork, draw_network
from bench.cases.text_hash import text_hash
from bench.evaluators.final_answer import judge_number
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.trial import Answer

SEED_GROUP = "seeded_shortest_path"
"""All wordings of one seed tell the same network."""

_ROADS = """\
A courier drives between small towns. The list names every road there is and how many minutes it \
takes; each road can be driven both ways and takes the same time in either direction.

{links}

What is the least number of minutes in which the courier gets from {start} to {end}?

Compare the routes briefly, in at most twelve lines. Then end with exactly one line of this form:
FINAL: <minutes as a whole number>"""

_CABLES = """\
Messages hop along cables that join measuring stations. Below is the complete set of cables. The \
figure behind a cable is its delay in milliseconds, which does not depend on the direction, and \
delays along a chain of cables add up.

{links}

A message leaves {start} and is to reach {end}. How many milliseconds does it need along the \
fastest chain?

Keep your working to twelve short lines or fewer, and close with a single line in this shape:
FINAL: <milliseconds as a whole number>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    """One way to tell a network."""

    text: str
    link: str


_CANONICAL = _Wording(text=_ROADS, link="{left} - {right}: {cost} min")
_PARAPHRASE = _Wording(text=_CABLES, link="cable {left} / {right}, {cost} ms")


def _build(seed: int, *, wording: _Wording) -> Instance:
    network = draw_network(seed)
    links = "\n".join(
        wording.link.format(left=left, right=right, cost=cost)
        for left, right, cost in network.roads
    )
    prompt = wording.text.format(links=links, start=network.start, end=network.end)
    return path_instance(network, prompt)


def path_instance(network: RoadNetwork, prompt: str) -> Instance:
    """Return the task to find the best route of ``network``, told by ``prompt``."""
    expected = str(network.cost)
    return Instance(
        request=ChatRequest(
            messages=(Message(role="user", content=prompt),),
            max_tokens=768,
            temperature=0.0,
            reasoning_effort="none",
        ),
        expected=expected,
        evaluate=partial(judge_number, expected=expected),
        book=Answer(content=f"{_working(network)}\nFINAL: {expected}", finish_reason="stop"),
        book_wrong=Answer(
            content=f"Taking the cheapest link each time.\nFINAL: {network.hasty_cost}",
            finish_reason="stop",
        ),
    )


def _working(network: RoadNetwork) -> str:
    costs = {frozenset((left, right)): cost for left, right, cost in network.roads}
    legs = [costs[frozenset(pair)] for pair in zip(network.route, network.route[1:], strict=False)]
    return f"{' - '.join(network.route)}: {' + '.join(map(str, legs))} = {network.cost}"


_build_canonical: Callable[[int], Instance] = partial(_build, wording=_CANONICAL)
_build_paraphrase: Callable[[int], Instance] = partial(_build, wording=_PARAPHRASE)

SHORTEST_PATH = Case(
    info=CaseInfo(
        id="seeded_shortest_path",
        name="Shortest path",
        kind="quality",
        category="reasoning",
        dimension="search",
        difficulty="medium",
        seed_group=SEED_GROUP,
        runs=2,
        text_hash=text_hash(_build_canonical),
    ),
    build=_build_canonical,
    description="finds the cheapest route through a small road network where haste picks another",
)

SHORTEST_PATH_PARAPHRASE = Case(
    info=CaseInfo(
        id="seeded_shortest_path_paraphrase",
        name="Shortest path, paraphrased",
        kind="quality",
        category="reasoning",
        dimension="search",
        difficulty="medium",
        variant_of="seeded_shortest_path",
        variant="paraphrase",
        seed_group=SEED_GROUP,
        runs=2,
        text_hash=text_hash(_build_paraphrase),
    ),
    build=_build_paraphrase,
    description="asks for the same route in other words: does the wording change the answer?",
)

CASES = (SHORTEST_PATH, SHORTEST_PATH_PARAPHRASE)
