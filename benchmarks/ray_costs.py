"""What load processes on a Ray cluster cost whoever leads them: the units that docs/ray.md reckons with.

Usage, after `scripts/test-ray` has installed Ray::

    .real/ray/bin/python -m benchmarks.ray_costs [--idle 2,4,8]

Prints one table in Markdown. All nodes are on this machine: a network adds its round trip.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import psutil

from bench.client.endpoint import Endpoint
from bench.clock import SystemClock
from bench.cluster.executor import RayExecutor
from bench.cluster.generator import BATCH_BYTES
from bench.cluster.outbox import Outbox
from bench.dialects import DIALECTS
from bench.executor import LoadProcess
from bench.fleet.equipment import Addresses, packed
from bench.model.fleet import Echo, Probe, Ready, Setup
from bench.model.header import Environment, Header
from bench.model.run_config import RunConfig
from bench.wire import PROTOCOLS

_PROBES = 300
_IDLE_S = 10.0
_URL = "http://127.0.0.1:9/v1/chat/completions"
_HEADER = Header(
    run_id="costs",
    started_at="2026-01-01T00:00:00.000Z",
    stem="costs",
    config=RunConfig(model_ids=("m",), url=_URL),
    targets=(),
    cases=(),
    plan=(),
    plan_hash="",
    environment=Environment(tool_version="", python="", host="", system=""),
)


async def _heard(member: LoadProcess, kind: type[Echo | Ready]) -> None:
    report = await member.hear()
    if not isinstance(report, kind):
        message = f"{type(report).__name__} instead of {kind.__name__}"
        raise TypeError(message)


async def _round_trips(member: LoadProcess) -> list[int]:
    """Return how long an order and its answer took, in nanoseconds, ascending."""
    clock, took = SystemClock(), []
    for number in range(_PROBES):
        before_ns = clock.now_ns()
        await member.tell(Probe(number=number))
        await _heard(member, Echo)
        took.append(clock.now_ns() - before_ns)
    return sorted(took)


def _bridge_cpu_s() -> float:
    """Return the processor time of the process that drives Ray."""
    (bridge,) = (
        child
        for child in psutil.Process().children()
        if "bench.cluster" in " ".join(child.cmdline())
    )
    used = bridge.cpu_times()
    return used.user + used.system


async def _measured(count: int) -> tuple[float, float, list[int]]:
    """Return seconds until all were ready, CPU share of the driver per idle one, round trips."""
    with tempfile.TemporaryDirectory() as folder:
        endpoint = Endpoint(
            url=_URL, headers=(), stream=True, wire=PROTOCOLS["chat"], dialect=DIALECTS["plain"]
        )
        addresses = Addresses(endpoint=endpoint, folder=Path(folder))
        executor = RayExecutor(address=None, processors=0.1)
        began = time.perf_counter()
        setups = [Setup(number=number, header=_HEADER) for number in range(1, count + 1)]
        members = await executor.start(setups, packed(addresses, journal=Path(folder, "S.jsonl")))
        for member in members:
            await _heard(member, Ready)
        ready_s = time.perf_counter() - began
        before_s = _bridge_cpu_s()
        await asyncio.sleep(_IDLE_S)
        share = (_bridge_cpu_s() - before_s) / _IDLE_S
        trips = await _round_trips(members[0])
        await executor.close()
    return ready_s, share, trips


def _reading_mb_per_s() -> float:
    """Return how fast an outbox hands a shard out, without the way to the leader."""
    with tempfile.TemporaryDirectory() as folder:
        shard = Path(folder, "s")
        shard.write_bytes(os.urandom(64 * BATCH_BYTES))
        size = shard.stat().st_size

        async def read() -> float:
            outbox, offset, began = Outbox(shard, most_bytes=BATCH_BYTES), 0, time.perf_counter()
            while offset < size:
                offset += len((await outbox.batch(offset=offset, taken=0, wait_s=0.0)).data)
            return size / 1e6 / (time.perf_counter() - began)

        return asyncio.run(read())


def _table(counts: Sequence[int]) -> None:
    print("| load processes | ready after | driver's CPU | round trip least, p50, p99 | load |")
    print("|---:|---:|---:|---:|---:|")
    for count in counts:
        ready_s, share, trips = asyncio.run(_measured(count))
        least, p99 = trips[0], trips[int(len(trips) * 0.99)]
        said = ", ".join(f"{ns / 1e6:.2f}" for ns in (least, median(trips), p99))
        load = os.getloadavg()[0]
        print(f"| {count} | {ready_s:.1f} s | {share:.1%} | {said} ms | {load:.1f} |")
    print(f"\nA shard is read at {_reading_mb_per_s():,.0f} MB/s.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--idle", default="2,4,8")
    _table([int(word) for word in parser.parse_args().idle.split(",")])
