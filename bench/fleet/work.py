"""A load process from its first order to its last, over whatever line its leader speaks on."""

import asyncio
import os
import platform
from collections.abc import Mapping
from typing import Protocol

import msgspec

from bench.agent.registry import shipped_of
from bench.client.chat_client import HttpChatClient
from bench.clock import SystemClock
from bench.errors import BenchError, LoadProcessLost, UsageFault
from bench.executor import Equipment
from bench.fleet.equipment import Addresses, unpacked
from bench.garbage import rarely_collected
from bench.journal import Journal
from bench.model.case import Case
from bench.model.fleet import Failed, Order, Ready, Report, Setup
from bench.model.header import Header
from bench.raw_body import body_case
from bench.runner.flights import Ports
from bench.runner.informant import Informant
from bench.runner.member import Member


class Line(Protocol):
    """The load process's side of the talk with its leader."""

    async def hear(self) -> Order:
        """Return the next order; waits for it.

        Raises:
            LoadProcessLost: The leader is gone.
        """
        ...

    async def tell(self, report: Report) -> None:
        """Say something; what was written before it is in the shard."""
        ...


async def work(line: Line, equipment: Equipment) -> None:
    """Do what the leader says until it dismisses this process or is gone.

    What is in flight when the leader is gone is given up; its end is in the shard.
    """
    setup = await line.hear()
    if not isinstance(setup, Setup):
        await line.tell(Failed(message="the first order was no setup"))
        return
    try:
        addresses = unpacked(equipment)
        cases = recorded_cases(setup.header, addresses)
        header = msgspec.structs.replace(setup.header, shard=setup.number)
        journal = Journal.create(equipment.shard(setup.number), header)
    except BenchError as fault:
        await line.tell(Failed(message=fault.message))
        return
    with journal:
        await _served(line, setup, addresses, cases, journal)


async def _served(
    line: Line,
    setup: Setup,
    addresses: Addresses,
    cases: Mapping[str, Case],
    journal: Journal,
) -> None:
    reports: asyncio.Queue[Report] = asyncio.Queue()
    informant = Informant(reports.put_nowait, explains=setup.explains)
    client = HttpChatClient(addresses.endpoint)
    arms = {target: HttpChatClient(endpoint) for target, endpoint in addresses.arms.items()}
    ports = Ports(client=client, arms=arms, sink=journal, clock=SystemClock(), watch=informant)
    member = Member(setup, cases, ports, informant=informant, tell=reports.put_nowait)
    reports.put_nowait(Ready(pid=os.getpid(), host=platform.node(), capacity=client.capacity()))
    telling = asyncio.ensure_future(_tell_all(line, reports))
    try:
        with rarely_collected():
            while not member.is_dismissed:
                member.take(await line.hear())
    except LoadProcessLost:
        await member.abandon()
    finally:
        telling.cancel()
        for each in (client, *arms.values()):
            await each.close()


async def _tell_all(line: Line, reports: "asyncio.Queue[Report]") -> None:
    while True:
        await line.tell(await reports.get())


def recorded_cases(header: Header, addresses: Addresses) -> dict[str, Case]:
    """Return the cases of a run, as the process that leads it found them.

    Raises:
        UsageFault: One isn't there on this machine, or is another than the leader's.
    """
    config, body = header.config, addresses.endpoint.raw_body
    own: tuple[Case, ...] = ()
    if config.user_cases:
        from bench.cases import CASE_IDS
        from bench.usercases import load_cases  # most runs have none

        own = load_cases(config.user_cases, addresses.folder, taken=CASE_IDS)
    if (external := config.external_suite) is not None:
        from bench.external import Asked, choose

        asked = Asked(
            suite=external.suite,
            data=external.data,
            limit=external.limit,
            offset=external.offset,
            mode=external.mode,
            unsupported=external.unsupported,
        )
        own = (*own, *choose(asked).cases)
    found = {case.info.id: case for case in own}
    if body is not None:
        of_body = body_case(body)
        found[of_body.info.id] = of_body
    found.update(shipped_of(info.id for info in header.cases if info.id not in found))
    for info in header.cases:
        there = found.get(info.id)
        if there is None or there.info.text_hash != info.text_hash:
            message = f"case `{info.id}` is not the same there as where the run is led"
            raise UsageFault(message)
    return found
