"""One process's part of a run: all it measures, in its event loop, up to its last record."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench.app.answers import write_book
from bench.app.interrupting import interruptible
from bench.app.request import Session
from bench.client.endpoint import Endpoint
from bench.clock import iso_ms
from bench.errors import JournalUnwritable
from bench.journal import Journal
from bench.ledger import Ledger
from bench.link import NoJob
from bench.load.blocks import is_load
from bench.model.case import Case
from bench.model.footer import Footer
from bench.model.paired import Pairing, Side
from bench.model.record import Value
from bench.model.surroundings import Gateway, Incident, Vantage
from bench.plan import planned_in
from bench.ports import ChatClient, Clock, GatewayWatch
from bench.runner import Assignment, Control, Ports, RunEnd, Runner

if TYPE_CHECKING:
    from bench.runner.crew import Crew

Connect = Callable[[Endpoint], ChatClient]


def connect_http(endpoint: Endpoint) -> ChatClient:
    """Return the real client."""
    from bench.client.chat_client import HttpChatClient

    return HttpChatClient(endpoint)


class Part(Value, frozen=True, kw_only=True):
    """What one process does for a run."""

    ledger: Ledger
    """As the journal was when this process began."""
    cases: Mapping[str, Case]
    session: Session
    reports_folder: Path
    journal: Journal
    clock: Clock
    origin_ns: int


async def measured(part: Part, connect: Connect) -> tuple[RunEnd, Footer]:
    """Measure, let the job stop the gateway, and write how it ended."""
    session, control = part.session, Control()
    link = session.link
    watch: GatewayWatch = NoJob() if link is None else link
    client = connect(session.endpoint)
    arms = {target_id: connect(endpoint) for target_id, endpoint in session.arms.items()}
    ports = Ports(
        client=client,
        arms=arms,
        sink=part.journal,
        clock=part.clock,
        watch=watch,
        workbench=session.workbench,
    )
    assignment = Assignment.of(
        part.ledger,
        cases=part.cases,
        origin_ns=part.origin_ns,
        new_limits=session.new_limits,
        has_tags=session.has_tags,
        require_complete=session.require_complete,
    )
    is_loaded = any(map(is_load, assignment.blocks))
    crew = await _crew(part, ports) if is_loaded and session.executor is not None else None
    runner = Runner(
        assignment,
        ports,
        control,
        on_trial=session.progress.trial_done,
        on_incident=lambda incident: _show(incident, session),
        crew=crew,
    )
    with interruptible(control, session.progress.answer):
        try:
            if link is not None:
                await link.open(
                    on_incident=runner.take_incident,
                    on_sample=runner.take_sample,
                    sides=_sides(part.ledger.header.config.paired),
                )
                link.journal_created(part.journal.path)
                write_book(session, part.ledger.header, part.cases)
                for gateway in link.hello.records():
                    part.journal.write(gateway)
            session.progress.begin(
                planned_in(assignment.blocks),
                spent_usd=part.ledger.spent_usd,
                waits=control.waits,
            )
            end = await _shown(runner, session)
            gateways = await _told(watch, end, control)
        finally:
            if crew is not None:
                await crew.dismiss()
            for each in (client, *arms.values()):
                await each.close()
            if link is not None:
                await link.close()
        vantage = client.vantage() if crew is None or crew.vantage is None else crew.vantage
        return _closed(part, runner, end, (vantage, *gateways))


async def _crew(part: Part, ports: Ports) -> "Crew | None":
    """Return the load processes that send the stages of load."""
    from bench.app.gathering import crew_order, gathered  # most runs send by themselves

    order = crew_order(part.ledger, part.session, part.journal)
    return None if order is None else await gathered(order, ports)


def _sides(pairing: Pairing | None) -> dict[str, Side]:
    """Return to which of two gateways the requests of each target go; of one gateway none."""
    if pairing is None or pairing.kind != "ab":
        return {}
    return {pairing.base.target_id: "base", pairing.changed.target_id: "changed"}


def _show(incident: Incident, session: Session) -> None:
    """Tell of an incident at once; the job may have done so before this process was ready."""
    if session.link is None or not session.link.is_told(incident):
        from bench.report.escaping import visible  # with every report; incidents are rare

        session.progress.tell(f"{incident.incident_class}: {visible(incident.summary)}")


async def _shown(runner: Runner, session: Session) -> RunEnd:
    """Run while the progress display ticks."""

    async def tick() -> None:
        while True:
            await asyncio.sleep(session.progress.interval_s)
            session.progress.tick()

    ticking = asyncio.ensure_future(tick())
    try:
        return await runner.run()
    finally:
        ticking.cancel()
        session.progress.close()


async def _told(watch: GatewayWatch, end: RunEnd, control: Control) -> tuple[Gateway, ...]:
    """Say that measuring ended and wait for the gateway's end; a second signal ends the wait."""
    control.farewell = asyncio.ensure_future(watch.measured(end.reason))
    await asyncio.wait({control.farewell})
    return () if control.farewell.cancelled() else control.farewell.result()


def _closed(
    part: Part, runner: Runner, end: RunEnd, observed: Iterable[Gateway | Vantage | None]
) -> tuple[RunEnd, Footer]:
    """Write the last records; on a full disk the run ends without them."""
    footer = Footer(
        finished_at=iso_ms(part.clock.utcnow()),
        offset_ms=runner.offset_ms(part.clock.now_ns()),
        reason=end.reason,
        exit_code=end.exit_code,
        not_run=end.not_run,
        budget_used_ms=end.budget_used_ms,
        spent_usd=end.spent_usd,
    )
    try:
        for record in observed:
            if record is not None:
                part.journal.write(record)
        part.journal.write(footer)
    except JournalUnwritable as error:
        return replace(end, fault=end.fault or error), footer
    return end, footer
