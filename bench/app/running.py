"""A run from its first record to its reports: journal, runner, job and files put together."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench.app.answers import write_book
from bench.app.environment import environment
from bench.app.folder import make_folder
from bench.app.gathering import crew_order, gathered
from bench.app.interrupting import interruptible
from bench.app.request import Outcome, RunRequest, Session
from bench.archive import keep, mark
from bench.client.endpoint import Endpoint
from bench.clock import SystemClock, iso_ms
from bench.errors import JournalUnwritable, KeyRejected, UsageFault
from bench.journal import Journal, read_journal
from bench.ledger import Ledger, collect
from bench.link import NoJob
from bench.load.blocks import is_load
from bench.model.case import Case, described
from bench.model.footer import Footer
from bench.model.header import Header, NewLimits, Resumed
from bench.model.paired import Arm, Pairing, Side
from bench.model.surroundings import Gateway, Incident, Vantage
from bench.plan import plan_hash, planned_in
from bench.ports import ChatClient, Clock, GatewayWatch
from bench.runner import Assignment, Control, Ports, RunEnd, Runner
from bench.shards import shards_of

Connect = Callable[[Endpoint], ChatClient]


def connect_http(endpoint: Endpoint) -> ChatClient:
    """Return the real client."""
    from bench.client import HttpChatClient

    return HttpChatClient(endpoint)


def run_plan(
    request: RunRequest,
    session: Session,
    *,
    connect: Connect = connect_http,
    clock: Clock | None = None,
) -> Outcome:
    """Run a new plan and write its files.

    Args:
        request: What is asked of whom.
        session: How it is carried out.
        connect: Makes the client, in the event loop.
        clock: ``None`` = this machine's.

    Raises:
        UsageFault: The output folder can't be written.
        JournalUnwritable: Not even the header could be written.
        KeyRejected: The first answer refused the key; the journal says so.
    """
    clock = clock or SystemClock()
    make_folder(request.output_folder)
    header = _header(request, session, clock)
    path = request.output_folder / f"{request.stem}.jsonl"
    origin_ns = clock.now_ns()
    journal = Journal.create(path, header)
    part = _Part(
        ledger=collect([header]),
        cases={case.info.id: case for case in request.cases},
        session=session,
        reports_folder=path.parent,
        journal=journal,
        clock=clock,
        origin_ns=origin_ns,
    )
    return _carried_out(part, connect, is_resumed=False)


def resume_plan(
    path: Path,
    cases: Mapping[str, Case],
    session: Session,
    *,
    reports_folder: Path | None = None,
    connect: Connect = connect_http,
    clock: Clock | None = None,
) -> Outcome:
    """Go on with a journal: ask what has no result, with the same seeds and in the same order.

    Args:
        path: The journal; it is appended to where it is.
        cases: The cases there are now, by id.
        session: How it is carried out.
        reports_folder: Where its reports are written again; ``None`` = beside it.
        connect: Makes the client, in the event loop.
        clock: ``None`` = this machine's.

    Raises:
        JournalUnreadable: ``path`` is no journal.
        JournalUnwritable: Another process writes to it.
        UsageFault: A case of the plan is gone or has changed: its answers could not be compared.
        KeyRejected: As for a new run.
    """
    clock = clock or SystemClock()
    folder = path.parent if reports_folder is None else reports_folder
    make_folder(folder)
    ledger = read_journal(path)
    _refuse_changed_cases(path, ledger, cases)
    journal = Journal.open_for_append(path)
    # Between the reading and the lock another process may have ended its part.
    ledger = read_journal(path)
    part = _Part(
        ledger=ledger,
        cases=cases,
        session=session,
        reports_folder=folder,
        journal=journal,
        clock=clock,
        origin_ns=clock.now_ns(),
    )
    return _carried_out(part, connect, is_resumed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What one process does for a run."""

    ledger: Ledger
    """As the journal was when this process began."""
    cases: Mapping[str, Case]
    session: Session
    reports_folder: Path
    journal: Journal
    clock: Clock
    origin_ns: int


def _carried_out(part: _Part, connect: Connect, *, is_resumed: bool) -> Outcome:
    session, path = part.session, part.journal.path
    archive = None
    if session.archive_folder is not None:
        archive = session.archive_folder / part.ledger.header.run_id
        keep([path], archive)  # a hard link now survives a worktree that is deleted mid-run
        mark(archive, journal=path, repository=session.repository)
    fault: JournalUnwritable | None = None
    try:
        if is_resumed:
            part.journal.write(_resumed(part))
        end, footer = asyncio.run(_measured(part, connect))
    finally:
        try:
            part.journal.close()
        except JournalUnwritable as error:
            fault = error
    if end.reason == "key_rejected" and end.refusal is not None:
        _raise_rejected(part, end)
    # Loaded now: nothing is measured any more, and the first request had not to wait for it.
    from bench.app.rendering import gated, outcome_of, publish
    from bench.document import build_document

    document = build_document(_ended(read_journal(path), footer))
    folder = part.reports_folder
    published = publish(document, folder, source=path, summary_width=session.summary_width)
    outcome = outcome_of(published, document, journal=path)
    notes = list(outcome.notes)
    fault = end.fault or fault
    if fault is not None:
        notes.insert(0, fault.message)
    if archive is not None:
        made = [file for file in published.files if file.suffix == ".json"]
        notes += keep([path, *shards_of(path), *made], archive)
    code = end.exit_code or (JournalUnwritable.exit_code if fault else 0) or outcome.exit_code
    reason = end.reason if end.exit_code or not outcome.exit_code else outcome.reason
    ended = replace(outcome, exit_code=code, reason=reason, notes=tuple(notes))
    return gated(ended, document)


def _ended(ledger: Ledger, footer: Footer) -> Ledger:
    """Return the ledger with its end, which a full disk may have kept out of the journal."""
    return ledger if ledger.footer is not None else replace(ledger, footer=footer)


async def _measured(part: _Part, connect: Connect) -> tuple[RunEnd, Footer]:
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
    order = crew_order(part.ledger, session, part.journal) if is_loaded else None
    crew = None if order is None else await gathered(order, ports)
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
    part: _Part, runner: Runner, end: RunEnd, observed: Iterable[Gateway | Vantage | None]
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


def _header(request: RunRequest, session: Session, clock: Clock) -> Header:
    infos = tuple(map(described, request.cases))
    config, hello = request.config, None if session.link is None else session.link.hello
    plan = request.plan()
    return Header(
        run_id=request.run_id,
        started_at=iso_ms(clock.utcnow()),
        stem=request.stem,
        config=config,
        options=dict(request.options),
        targets=request.targets,
        cases=infos,
        plan=plan,
        plan_hash=plan_hash(plan, infos, request.targets),
        environment=environment(),
        simulated=request.is_simulated or (hello is not None and hello.simulated_upstream),
        sandbox=None if session.workbench is None else session.workbench.described(),
        launch=None if hello is None else hello.launch,
    )


def _resumed(part: _Part) -> Resumed:
    return Resumed(
        at=iso_ms(part.clock.utcnow()),
        offset_ms=part.ledger.offset_ms,
        environment=environment(),
        limits=part.session.new_limits or NewLimits(),
    )


def _refuse_changed_cases(path: Path, ledger: Ledger, cases: Mapping[str, Case]) -> None:
    gone, changed = [], []
    for info in ledger.header.cases:
        case = cases.get(info.id)
        if case is None:
            gone.append(f"`{info.id}`")
        elif case.info.text_hash != info.text_hash:
            changed.append(f"`{info.id}`")
    said = [f"there is no case {name} any more" for name in gone]
    said += [f"the text of case {name} has changed" for name in changed]
    if said:
        message = f"`{path}` can't be resumed: {'; '.join(said)}"
        hint = "start a new run, or resume with the version that began this one"
        raise UsageFault(message, hint=hint)


def _raise_rejected(part: _Part, end: RunEnd) -> None:
    config = part.ledger.header.config
    response = end.refusal
    if response is None or response.status is None:
        return
    base = _refused_base(part)
    raise KeyRejected(
        variable=config.api_key_env if base is None else base.api_key_env,
        url=part.session.endpoint.url if base is None else base.url,
        status=response.status,
        said="" if response.error is None else response.error.message,
        option="--api-key-env" if base is None else "--baseline-api-key-env",
    )


def _refused_base(part: _Part) -> Arm | None:
    """Return the arm that is held against, if it was the one that refused its key."""
    pairing = part.ledger.header.config.paired
    if pairing is None:
        return None
    refused = [
        trial.target_id
        for trial in read_journal(part.journal.path).trials
        if trial.invalidated == "key_rejected"
    ]
    return pairing.base if refused == [pairing.base.target_id] else None
