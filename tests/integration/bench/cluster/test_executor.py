"""The leader's side, against a real process that plays the one that drives Ray."""

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from bench.cluster.executor import RayExecutor
from bench.errors import ClusterUnusable, LoadProcessLost
from bench.executor import Equipment
from bench.model.fleet import Dismiss, Echo, Probe, Setup
from tests.sample_documents import header

pytestmark = pytest.mark.integration
PLAYED = Path(__file__).parents[3] / "played_bridge.py"
SETUPS = [Setup(number=number, header=header((), ())) for number in (1, 2)]


def executor(how: str, *, farewell_s: float = 60.0) -> RayExecutor:
    program = (sys.executable, str(PLAYED), how)
    return RayExecutor(address=None, processors=1.0, program=program, farewell_s=farewell_s)


def equipment(tmp_path: Path) -> Equipment:
    return Equipment(folder=tmp_path, stem="S", secret_words=b"sk-secret")


def test_orders_and_reports_reach_the_load_process_they_are_of(tmp_path):
    async def run():
        ray = executor("work")
        one, two = await ray.start(SETUPS, equipment(tmp_path))
        await two.tell(Probe(number=7))
        heard = await two.hear()
        await one.tell(Dismiss())
        with pytest.raises(LoadProcessLost) as lost:
            await one.hear()
        with pytest.raises(LoadProcessLost):
            await one.hear()
        with pytest.raises(LoadProcessLost):
            await one.tell(Dismiss())
        await ray.close()
        await ray.close()
        return heard, lost.value, [one.whereabouts.number, two.whereabouts.number]

    heard, lost, numbers = asyncio.run(run())
    assert heard == Echo(number=7, now_ns=1)
    assert lost.message == "load process 1 is gone: its node is gone"
    assert numbers == [1, 2]


def test_a_cluster_that_is_no_use_is_refused_with_what_to_do(tmp_path):
    async def run():
        await executor("refuse").start(SETUPS, equipment(tmp_path))

    with pytest.raises(ClusterUnusable) as refused:
        asyncio.run(run())
    assert (refused.value.message, refused.value.hint) == ("no room", "ask for less")


def test_a_driver_that_ends_before_it_began_is_told_of(tmp_path):
    async def run():
        await executor("die").start(SETUPS, equipment(tmp_path))

    with pytest.raises(LoadProcessLost, match="the process that drives Ray is gone"):
        asyncio.run(run())


def test_a_driver_that_dies_takes_every_load_process_along(tmp_path):
    async def run():
        ray = executor("die-later")
        one, two = await ray.start(SETUPS, equipment(tmp_path))
        await one.tell(Probe(number=1))
        for member in (one, two):
            with pytest.raises(LoadProcessLost, match="the process that drives Ray is gone"):
                await member.hear()
        await ray.close()

    asyncio.run(run())


def test_a_driver_that_does_not_end_is_ended(tmp_path):
    async def run():
        ray = executor("deaf", farewell_s=0.1)
        one, _ = await ray.start(SETUPS, equipment(tmp_path))
        await ray.close()
        return one.whereabouts.pid

    assert not psutil.pid_exists(asyncio.run(run()))
