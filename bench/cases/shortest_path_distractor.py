"""``seeded_shortest_path_distractor``: the same network among figures that do not matter."""

from bench.cases.road_network import RoadNetwork, draw_network
from bench.cases.shortest_path import SEED_GROUP, path_instance
from bench.cases.text_hash import text_hash
from bench.model.case import Case, CaseInfo, Instance
from bench.seeds import SeededStream

_PROMPT = """\
A courier drives between small towns. The list names every road there is, with its driving time, \
its length, and the year in which it was last resurfaced. Each road can be driven both ways and \
takes the same time in either direction.

{links}

The courier's van uses {fuel} litres per 100 km, and a delivery in {bystander} pays {fee} crowns. \
A colleague remembers that the road from {old_left} to {old_right} once took only {old_minutes} \
minutes; the list is newer and right.

What is the least number of minutes in which the courier gets from {start} to {end}?

Compare the routes briefly, in at most twelve lines. Then end with exactly one line of this form:
FINAL: <minutes as a whole number>"""


def build(seed: int) -> Instance:
    """Return the instance of ``seed``: the network that the other wordings tell."""
    network = draw_network(seed)
    stream = SeededStream(seed, label="shortest path distractor")
    links = "\n".join(
        f"{left} - {right}: {minutes} min, {kilometres} km, {1990 + stream.below(40)}"
        for (left, right, minutes), kilometres in zip(
            network.roads, lengths(network, stream), strict=True
        )
    )
    old_left, old_right, minutes = stream.pick(network.roads)
    prompt = _PROMPT.format(
        links=links,
        fuel=stream.between(6, 12),
        bystander=stream.pick(network.route[1:-1]),
        fee=stream.between(40, 90),
        old_left=old_left,
        old_right=old_right,
        old_minutes=minutes // 2,
        start=network.start,
        end=network.end,
    )
    return path_instance(network, prompt)


def lengths(network: RoadNetwork, stream: SeededStream) -> list[int]:
    """Return a length in km for each road, drawn apart from its driving time."""
    return [stream.between(8, 60) for _ in network.roads]


SHORTEST_PATH_DISTRACTOR = Case(
    info=CaseInfo(
        id="seeded_shortest_path_distractor",
        name="Shortest path, with distractors",
        kind="quality",
        category="reasoning",
        dimension="search",
        difficulty="medium",
        variant_of="seeded_shortest_path",
        variant="distractor",
        seed_group=SEED_GROUP,
        runs=2,
        text_hash=text_hash(build),
    ),
    build=build,
    description="asks for the same route among figures and remarks that do not matter",
)

CASES = (SHORTEST_PATH_DISTRACTOR,)
