"""Joins a Ray cluster and places actors on it. With `bench.cluster.bridge` all that imports Ray."""

import asyncio
import math
from collections.abc import Mapping
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.placement_group import placement_group, placement_group_table, remove_placement_group
from ray.util.scheduling_strategies import (
    NodeAffinitySchedulingStrategy,
    PlacementGroupSchedulingStrategy,
)

from bench import __version__
from bench.cluster.generator import Generator, Proof, rest_of_shard
from bench.cluster.places import Node, misplaced, occupied, too_small, wrong_version
from bench.cluster.words import Open, Place
from bench.errors import ClusterUnusable

PLACEMENT_S = 60.0
"""A cluster that grows by itself may take longer: it is to be made large enough before."""
_STORE_BYTES = 80_000_000
"""Of a cluster of our own: Ray's least is 75 MiB, and batches are small."""

Handle = Any
"""Of an actor: Ray's handles have no type."""


class Driver:
    """The cluster as one run uses it.

    Args:
        opened: What is asked.
    """

    def __init__(self, opened: Open) -> None:
        self.handles: dict[int, Handle] = {}
        self.folders: dict[int, str] = {}
        """Of each actor's shard, on its node."""
        self._opened = opened
        self._nodes: dict[int, str] = {}
        self._group: Any = None

    def join(self) -> None:
        """Connect to the cluster, or start one on this machine.

        Raises:
            ClusterUnusable: It does not answer, or is of another release of Ray or Python.
        """
        address = self._opened.address
        processors = math.ceil(len(self._opened.setups) * self._opened.processors)
        own = {
            "num_cpus": max(1, processors),
            "include_dashboard": False,
            "object_store_memory": _STORE_BYTES,
        }
        try:
            ray.init(
                address=address or "local",
                log_to_driver=False,
                logging_level="ERROR",
                **(own if address is None else {}),
            )
        except (OSError, RuntimeError, ValueError, RayError) as error:
            where = f"the Ray cluster at `{address}`" if address else "a Ray cluster of our own"
            message = f"{where} can't be used: {first_line(error)}"
            raise ClusterUnusable(message, hint=_how_to_look(address)) from error

    async def place(self) -> tuple[Place, ...]:
        """Put one actor in each bundle of a placement group; return where each really is.

        Raises:
            ClusterUnusable: No room, another release, or not where Ray promised.
        """
        numbers, each = sorted(self._opened.setups), self._opened.processors
        full = too_small(_nodes(), count=len(numbers), processors=each)
        if full is not None:
            raise full
        self._group = placement_group([{"CPU": each}] * len(numbers), strategy="SPREAD")
        if not await asyncio.to_thread(self._group.wait, PLACEMENT_S):
            raise occupied(count=len(numbers), processors=each)
        promised = placement_group_table(self._group)["bundles_to_node_id"]
        self._nodes = {number: promised[index] for index, number in enumerate(numbers)}
        for index, number in enumerate(numbers):
            bundle = PlacementGroupSchedulingStrategy(
                self._group, placement_group_bundle_index=index
            )
            actor = ray.remote(Generator).options(
                num_cpus=each, max_restarts=0, max_task_retries=0, scheduling_strategy=bundle
            )
            self.handles[number] = actor.remote(number)
        places = tuple([await self._proven(number) for number in numbers])
        wrong = misplaced(self._nodes, places)
        if wrong is not None:
            raise wrong
        return places

    async def _proven(self, number: int) -> Place:
        """Return where an actor really is, once it has shown that it can be worked with."""
        handle = self.handles[number]
        try:
            proof: Proof = await handle.prove.remote()
            node: str = await handle.__ray_call__.remote(node_here)
        except RayError as error:
            node_id = self._nodes[number][:8]
            message = f"no load process could be started on node {node_id}: {first_line(error)}"
            hint = f"gateway-bench {__version__} has to be installed on every node"
            raise ClusterUnusable(message, hint=hint) from error
        if proof.version != __version__:
            raise wrong_version(proof.host, theirs=proof.version, ours=__version__)
        self.folders[number] = proof.folder
        return Place(
            number=number, pid=proof.pid, host=proof.host, node=node, boot_id=proof.boot_id
        )

    def rest(self, number: int, offset: int) -> Any:  # noqa: ANN401 - a reference to bytes to come
        """Return what an actor that died left on its node, if that node still lives."""
        on_its_node = NodeAffinitySchedulingStrategy(self._nodes[number], soft=False)
        task = ray.remote(rest_of_shard).options(
            num_cpus=0, max_retries=0, scheduling_strategy=on_its_node
        )
        return task.remote(self.folders[number], number, offset)

    def leave(self) -> None:
        """End all actors, give the room back, leave the cluster; one of our own ends with it."""
        if not ray.is_initialized():
            return
        for handle in self.handles.values():
            ray.kill(handle, no_restart=True)
        if self._group is not None:
            remove_placement_group(self._group)
        ray.shutdown()


def node_here(_actor: object) -> str:
    """Return the id of the node on which this runs."""
    found: str = ray.get_runtime_context().get_node_id()
    return found


def first_line(error: Exception) -> str:
    """Return the beginning of what Ray says: the rest is a traceback of its own."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _nodes() -> list[Node]:
    listed: list[Mapping[str, Any]] = ray.nodes()
    return [
        Node(
            id=node["NodeID"],
            host=node.get("NodeManagerHostname") or node["NodeManagerAddress"],
            processors=node["Resources"].get("CPU", 0.0),
        )
        for node in listed
        if node["Alive"]
    ]


def _how_to_look(address: str | None) -> str | None:
    return f"`ray status --address {address}` shows whether it is up" if address else None
