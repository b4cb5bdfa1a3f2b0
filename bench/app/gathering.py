"""The load processes of a run, started and met before its first request."""

from dataclasses import dataclass
from pathlib import Path

from bench.app.request import Session
from bench.archive import keep
from bench.executor import Executor
from bench.fleet.equipment import Addresses, packed
from bench.journal import Journal
from bench.ledger import Ledger
from bench.model.fleet import Setup
from bench.runner import Ports
from bench.runner.crew import Crew, OnCounted


@dataclass(frozen=True, slots=True, kw_only=True)
class CrewOrder:
    """Which load processes are wanted."""

    executor: Executor
    setups: tuple[Setup, ...]
    addresses: Addresses
    journal: Path
    on_counted: OnCounted
    archive: Path | None


def crew_order(ledger: Ledger, session: Session, journal: Journal) -> CrewOrder | None:
    """Return what is wanted of an executor; ``None`` = the run has none.

    Numbers go on behind those of the processes that wrote for this run before.
    """
    if session.executor is None:
        return None
    first = 1 + max((shard.number for shard in ledger.shards), default=0)
    folder, run_id = session.archive_folder, ledger.header.run_id
    return CrewOrder(
        executor=session.executor,
        setups=tuple(
            Setup(
                number=number,
                header=ledger.header,
                has_tags=session.has_tags,
                explains=session.link is not None,
            )
            for number in range(first, first + session.workers)
        ),
        addresses=Addresses(endpoint=session.endpoint, arms=dict(session.arms), folder=Path.cwd()),
        journal=journal.path,
        on_counted=session.progress.trials_counted,
        archive=None if folder is None else folder / run_id,
    )


async def gathered(order: CrewOrder, ports: Ports) -> Crew:
    """Start load processes and wait until all are ready; their journals are named and kept.

    Raises:
        LoadProcessLost: One did not become ready; none is left, and nothing was sent.
    """
    equipment = packed(order.addresses, journal=order.journal)
    processes = await order.executor.start(order.setups, equipment)
    crew = Crew(
        processes,
        order.executor,
        clock=ports.clock,
        watch=ports.watch,
        sink=ports.sink,
        on_counted=order.on_counted,
    )
    try:
        await crew.meet(order.journal.stem)
    except BaseException:
        await order.executor.close()
        raise
    if order.archive is not None:
        keep((equipment.shard(setup.number) for setup in order.setups), order.archive)
    return crew
