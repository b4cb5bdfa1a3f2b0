"""Where actors were to stand and where they do. Pure: what Ray says is handed in."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.cluster.words import Place
from bench.errors import ClusterUnusable


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node of the cluster, as far as it matters here."""

    id: str
    host: str
    processors: float
    """It has in all."""


def too_small(nodes: Sequence[Node], *, count: int, processors: float) -> ClusterUnusable | None:
    """Return what is told when the whole cluster has no room; ``None`` = it has."""
    fits = sum(_steps(node.processors) // _steps(processors) for node in nodes)
    if fits >= count:
        return None
    has = ", ".join(f"{node.host} ({node.id[:8]}) {node.processors:g}" for node in nodes)
    message = (
        f"{count} load processes of {processors:g} CPU each find no room: "
        f"the cluster has {sum(node.processors for node in nodes):g} CPU ({has or 'no node'})"
    )
    hint = f"at most `--workers {fits}`, or add nodes" if fits else "add nodes to the cluster"
    return ClusterUnusable(message, hint=hint)


def occupied(*, count: int, processors: float) -> ClusterUnusable:
    """Return what is told when there is room in the cluster, and it did not become free in time."""
    message = f"no room for {count} load processes of {processors:g} CPU each: others hold it"
    return ClusterUnusable(message, hint="`ray status` shows who holds what")


def misplaced(wanted: Mapping[int, str], places: Sequence[Place]) -> ClusterUnusable | None:
    """Return what is wrong with where the actors stand; ``None`` = each is on its node.

    Args:
        wanted: Node id of each bundle of the placement group, by number of the load process.
        places: What the actors said of themselves.
    """
    there = {place.number: place.node for place in places}
    wrong = [number for number, node in wanted.items() if there.get(number) != node]
    if wrong or len(there) != len(wanted):
        told = ", ".join(str(number) for number in wrong)
        return ClusterUnusable(f"load processes {told} do not run on the node that Ray promised")
    pids = Counter((place.host, place.pid) for place in places)
    shared = [pid for (_, pid), count in pids.items() if count > 1]
    if shared:
        message = f"two load processes share one process of the cluster (PID {shared[0]})"
        return ClusterUnusable(message)
    return None


def wrong_version(host: str, *, theirs: str, ours: str) -> ClusterUnusable:
    """Return what is told when a node has another release of this program."""
    message = f"`{host}` has gateway-bench {theirs}, this machine has {ours}"
    return ClusterUnusable(message, hint="install the same release on every node")


def _steps(processors: float) -> int:
    """Return CPUs as Ray counts them, in ten thousandths: 0.7 holds 0.1 seven times."""
    return round(processors * 10_000)
