"""A run from its first record to its reports: journal, runner, job and files put together."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote

from bench.app.environment import environment
from bench.app.folder import make_folder
from bench.app.measuring import Connect, Part, connect_http, measured
from bench.app.request import Outcome, RunRequest, Session
from bench.archive import keep, linked, mark
from bench.clock import SystemClock, iso_ms
from bench.errors import Interrupted, JournalUnwritable, KeyRejected, UsageFault
from bench.journal import Journal, read_journal
from bench.ledger import Ledger, collect
from bench.model.case import Case, described
from bench.model.footer import Footer
from bench.model.header import Header, NewLimits, Resumed
from bench.model.paired import Arm
from bench.plan import plan_hash
from bench.ports import Clock
from bench.runner import RunEnd
from bench.shards import shards_of


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
    part = Part(
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
    part = Part(
        ledger=ledger,
        cases=cases,
        session=session,
        reports_folder=folder,
        journal=journal,
        clock=clock,
        origin_ns=clock.now_ns(),
    )
    return _carried_out(part, connect, is_resumed=True)


def _carried_out(part: Part, connect: Connect, *, is_resumed: bool) -> Outcome:
    try:
        return _to_the_end(part, connect, is_resumed=is_resumed)
    except KeyboardInterrupt as once_more:  # while the reports are made, or before the first send
        run_id = part.ledger.header.run_id
        raise Interrupted(str(part.journal.path), run_id=run_id) from once_more


def _to_the_end(part: Part, connect: Connect, *, is_resumed: bool) -> Outcome:
    session, path = part.session, part.journal.path
    archive, link = _archived(part)
    fault: JournalUnwritable | None = None
    try:
        if is_resumed:
            part.journal.write(_resumed(part))
        end, footer = asyncio.run(measured(part, connect))
    finally:
        try:
            part.journal.close()
        except JournalUnwritable as error:
            fault = error
    if end.reason == "key_rejected" and end.refusal is not None:
        _raise_rejected(part, end)
    was_at, path = path, part.journal.path
    if fault is not None and part.journal.is_gone:
        raise fault if link is None else JournalUnwritable(fault.message, hint=_kept_at(link))
    # Loaded now: nothing is measured any more, and the first request had not to wait for it.
    from bench.app.rendering import gated, outcome_of, publish
    from bench.document import build_document

    document = build_document(_ended(read_journal(path), footer))
    published = publish(
        document, part.reports_folder, source=path, summary_width=session.summary_width
    )
    outcome = outcome_of(published, document, journal=path)
    fault = end.fault or fault
    notes = [*_of_journal(part.journal, was_at, fault), *outcome.notes]
    if archive is not None:
        made = [file for file in published.files if file.suffix == ".json"]
        notes += keep([path, *shards_of(path), *made], archive)
    code = end.exit_code or (JournalUnwritable.exit_code if fault else 0) or outcome.exit_code
    reason = end.reason if end.exit_code or not outcome.exit_code else outcome.reason
    ended = replace(outcome, exit_code=code, reason=reason, notes=tuple(notes))
    return gated(ended, document)


def _archived(part: Part) -> tuple[Path | None, Path | None]:
    """Keep the journal in the run's archive; return its folder and the hard link in it, if any.

    A link made now survives a worktree that is deleted mid-run.
    """
    session, path = part.session, part.journal.path
    if session.archive_folder is None:
        return None, None
    archive = session.archive_folder / part.ledger.header.run_id
    keep([path], archive)
    mark(archive, journal=path, repository=session.repository)
    return archive, linked(path, archive)


def _kept_at(link: Path) -> str:
    command = f"gateway-bench resume {quote(str(link))}"
    return f"all that was written is kept in `{link}`: `{command}` goes on there"


def _of_journal(journal: Journal, was_at: Path, fault: JournalUnwritable | None) -> Iterator[str]:
    """Yield what there is to say about the file that everything was written to."""
    if fault is not None:
        yield fault.message
    if journal.was_put_back:
        place = "back" if journal.path == was_at else f"back as `{journal.path}`"
        yield f"`{was_at}` was removed while it was written; it was put {place}, nothing is lost"


def _ended(ledger: Ledger, footer: Footer) -> Ledger:
    """Return the ledger with its end, which a full disk may have kept out of the journal."""
    return ledger if ledger.footer is not None else replace(ledger, footer=footer)


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


def _resumed(part: Part) -> Resumed:
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


def _raise_rejected(part: Part, end: RunEnd) -> None:
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


def _refused_base(part: Part) -> Arm | None:
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
