"""An interrupted run from its journal to its end."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from bench.agent.registry import shipped_of
from bench.agent.workplace import Workbench
from bench.app import Session, resume_plan
from bench.cli.agreeing import agree, day_account, most_of, within_the_day
from bench.cli.configured import configured
from bench.cli.console import Console
from bench.cli.going_on import Again, typed_again
from bench.cli.outcome import Outcome
from bench.cli.place import archive_folder, current_place, named_run
from bench.cli.senders import load_executor, sent_as_begun
from bench.cli.talk import (
    accept_link,
    carried_out,
    ended,
    set_up_log,
    show_progress,
    terminal_width,
)
from bench.client.endpoint import Endpoint
from bench.clock import SystemClock
from bench.config import Config, load_config
from bench.durations import duration_text
from bench.endpoint import resolve
from bench.errors import ForeignReports, UsageFault
from bench.journal import read_journal, refuse_if_written
from bench.keys import Origin
from bench.ledger import Ledger
from bench.load.blocks import is_load
from bench.model.blocks import Block
from bench.model.case import Case
from bench.model.header import NewBudget, NewLimits
from bench.model.run_config import RunConfig
from bench.prepare.access import find_access, make_endpoint, read_body
from bench.prepare.coding import find_workbench, refuse_not_runnable, sandbox_note
from bench.prepare.consent import free_because
from bench.prepare.estimate import Estimate, estimate
from bench.prepare.load import estimate_load, together
from bench.prepare.offering import ask_gateway
from bench.prepare.pairing import recorded_base
from bench.prepare.sources import recorded_cases
from bench.prepare.unchanged import refuse_changed_targets
from bench.raw_body import body_case, body_hash
from bench.runs import FoundRun


def resume_run(name: str, params: Mapping[str, Any], console: Console) -> Outcome:
    """Go on with the run that ``name`` means."""
    set_up_log(int(params.get("verbose") or 0), console)
    found = named_run(name, needs_journal=True)
    return nothing_missing(found, params, console) or resume_journal(found, params, console)


def nothing_missing(found: FoundRun, params: Mapping[str, Any], console: Console) -> Outcome | None:
    """Say of a run that has every result that it has, and render it; ``None`` = one is missing.

    Nothing is asked and nothing is added to the journal.

    Raises:
        UsageFault: Something is missing, and the time budget leaves no room to ask it.
        JournalUnwritable: The run is still going on.
    """
    ledger = _taken_up(found)
    if ledger.missing:
        _refuse_spent_budget(ledger, configured(params, console))
        return None
    console.say("nothing is missing: every planned trial has a result; no request was sent")
    results = load_config({}, current_place()).output_folder()
    from bench.app.rendering import render  # with every report

    try:
        made = render(
            found.path,
            found.reports_folder(results),
            summary_width=terminal_width(),
            is_judged=True,
        )
    except ForeignReports as kept:
        console.say(f"note: {kept.message}; they are left as they are")
        return Outcome(reason="nothing_missing", headline=kept.message, run_id=ledger.header.run_id)
    reason = made.reason if made.exit_code else "nothing_missing"
    return ended(replace(made, reason=reason), console)


def resume_journal(found: FoundRun, params: Mapping[str, Any], console: Console) -> Outcome:
    """Ask what the journal lacks.

    The address is the journal's unless one is typed. A journal in the user's archive, or one whose
    twin there names the same address, is the user's own; any other file is a stranger's, so a key
    goes to its address only after `--trust-url`.
    """
    ledger = _taken_up(found)
    is_own = _is_own(found, ledger)
    config = _as_begun(configured(params, console), ledger, console, is_own=is_own)
    limits = _new_limits(config)
    run = ledger.config(limits)
    access = find_access(
        config, trusted_hosts=tuple(params.get("trusted_hosts") or ()), resolve=resolve
    )
    console.keep_secret(*access.secrets)
    _check_headers(run.header_names, access.headers)
    body = _same_body(config, run.body_sha256)
    link = accept_link(SystemClock(), console)
    for note in () if link else access.notes:
        console.say(note)
    arms = _arms(run, config, params, is_own=is_own, body=body)
    for endpoint in arms.values():
        console.keep_secret(*endpoint.secrets)
    switched_off = ledger.header.options.get("include-deactivated")
    listing = ask_gateway(
        access,
        dialect=run.dialect,
        with_deactivated=switched_off is not None and switched_off.value is True,
    )
    for note in refuse_changed_targets(found.path, ledger, listing):
        console.say(note)
    free = free_because(link.hello if link else None, listing, access.address)
    own = recorded_cases(config, run.user_cases, run.external_suite, is_own=is_own)
    cases: dict[str, Case] = {**shipped_of(case.id for case in ledger.header.cases), **own}
    if body is not None:
        case = body_case(body)
        cases[case.info.id] = case
    going_on = _GoingOn(
        found=found,
        ledger=ledger,
        run=run,
        config=config,
        limits=limits,
        cases=cases,
        body=body,
        again=typed_again(config, access, run, has_job=link is not None, is_resumed=True),
    )
    executor, workers = load_executor(config, access)
    session = Session(
        endpoint=make_endpoint(run, access, body=body),
        arms=arms,
        progress=show_progress(quiet=config.settings.quiet),
        link=link,
        archive_folder=archive_folder() if config.settings.archive else None,
        has_tags=config.settings.tag,
        require_complete=config.settings.require_complete,
        summary_width=terminal_width(),
        executor=executor,
        workers=workers,
        new_limits=limits,
        workbench=_workbench(ledger, config, cases, console),
    )
    is_free = free is not None and not (arms and run.is_paid)
    if is_free or not ledger.missing:
        return _carried_out(going_on, session, console)
    return _paid(going_on, session, console, said_yes=bool(params.get("yes")))


def _taken_up(found: FoundRun) -> Ledger:
    """Return what the journal says; a run that still goes on is refused before money is spoken of."""
    refuse_if_written(found.path)
    return read_journal(found.path)


def _arms(
    run: RunConfig, config: Config, params: Mapping[str, Any], *, is_own: bool, body: bytes | None
) -> dict[str, Endpoint]:
    """Return the endpoint that a comparison holds against, by its target's id."""
    if run.paired is None:
        return {}
    trusted = tuple(params.get("trusted_hosts") or ())
    base = recorded_base(config, run.paired, is_own=is_own, trusted_hosts=trusted)
    return {base.arm.target_id: base.endpoint(run, body=body)}


def _workbench(
    ledger: Ledger, config: Config, cases: Mapping[str, Case], console: Console
) -> Workbench | None:
    """Return the sandbox, where an agentic trial is missing."""
    ids = dict.fromkeys(trial.case_id for trial in ledger.missing)
    left = [cases[case_id] for case_id in ids if case_id in cases]
    found = find_workbench(left, allow_reduced=config.settings.allow_reduced_sandbox)
    refuse_not_runnable(ids, found)
    if found is not None:
        console.say(sandbox_note(found.described()))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _GoingOn:
    """A run that is about to go on."""

    found: FoundRun
    ledger: Ledger
    run: RunConfig
    """With the limits that hold now."""
    config: Config
    limits: NewLimits
    cases: Mapping[str, Case]
    body: bytes | None
    again: Again
    """What is typed again where this ends early too."""


def _paid(going_on: _GoingOn, session: Session, console: Console, *, said_yes: bool) -> Outcome:
    """Go on with what may cost money: with a yes, and within the user's limit per day."""
    ledger, run, account = going_on.ledger, going_on.run, day_account()
    bounds = _bounds(going_on)
    console.say(f"paid run, what is missing: {bounds.text()}")
    agree(
        bounds,
        run=run,
        account=account,
        allow_unknown_cost=going_on.config.settings.allow_unknown_cost,
        said_yes=said_yes,
    )
    before = ledger.known_spend_usd
    left = None if run.max_cost_usd is None else max(0.0, run.max_cost_usd - before)
    most = most_of(bounds, limit_usd=left)
    with within_the_day(account, ledger.header.run_id, most_usd=most, console=console) as claim:
        if claim is None:
            return _carried_out(going_on, session, console)
        allowance = before + claim.granted_usd
        limits = msgspec.structs.replace(going_on.limits, day_allowance_usd=allowance)
        outcome = _carried_out(going_on, replace(session, new_limits=limits), console)
        if outcome.spent_usd is not None:
            claim.settle(outcome.spent_usd - before)
        return outcome


def _bounds(going_on: _GoingOn) -> Estimate:
    ledger, cases = going_on.ledger, going_on.cases
    asked = [t for t in ledger.missing if t.case_id in cases and t.stage is None]
    targets, run, body = ledger.header.targets, going_on.run, going_on.body
    return together(
        (
            estimate(asked, targets=targets, cases=cases, config=run, body=body),
            estimate_load(_loads_left(ledger), targets=targets, cases=cases, config=run, body=body),
        )
    )


def _loads_left(ledger: Ledger) -> list[Block]:
    """Return the load blocks of which something is to be sent."""
    plan = ledger.header.plan
    return [block for block in plan if is_load(block) and not ledger.stages.is_finished(block)]


def _carried_out(going_on: _GoingOn, session: Session, console: Console) -> Outcome:
    folder = going_on.found.reports_folder(going_on.config.output_folder())
    path, cases = going_on.found.path, going_on.cases
    return carried_out(
        lambda: resume_plan(path, cases, session, reports_folder=folder), console, going_on.again
    )


def _new_limits(config: Config) -> NewLimits:
    """Return the limits that were typed; a file's or the environment's are for new runs."""
    settings, trust = config.settings, config.trust
    has_budget, has_cost = (trust[field] is Origin.FLAG for field in ("budget", "max_cost"))
    return NewLimits(
        budget=NewBudget(limit_ms=settings.budget) if has_budget else None,
        max_cost_usd=settings.max_cost if has_cost else None,
    )


def _refuse_spent_budget(ledger: Ledger, config: Config) -> None:
    limit_ms = ledger.config(_new_limits(config)).budget_ms
    targets = {trial.target_id for trial in ledger.missing}
    used_ms = min(ledger.budget_used_ms.get(target, 0.0) for target in targets)
    if limit_ms is None or used_ms < limit_ms:
        return
    count = len(ledger.missing)
    are = "1 trial is" if count == 1 else f"{count} trials are"
    message = (
        f"{are} missing, and the time budget of {duration_text(limit_ms)} per target is used up: "
        f"{duration_text(round(used_ms))} were spent with a request in flight"
    )
    raise UsageFault(
        message, hint="`--no-budget` asks the rest, `--budget TIME` as much as fits in all"
    )


def _as_begun(config: Config, ledger: Ledger, console: Console, *, is_own: bool) -> Config:
    """Return the settings with what the journal says of where requests go and who sends them."""
    config = _with_address(config, ledger, is_own=is_own)
    if not _loads_left(ledger):
        return config
    config, note = sent_as_begun(config, ledger.header.options, is_own=is_own)
    if note is not None:
        console.say(note)
    return config


def _with_address(config: Config, ledger: Ledger, *, is_own: bool) -> Config:
    """Return the settings with the journal's address and key name where none was typed.

    The wire protocol is the journal's in any case: its figures are those of one protocol.
    """
    run = ledger.header.config
    config = config.with_value("api", run.api, origin=Origin.FLAG, label="the journal")
    if config.settings.key_header is None:
        config = config.with_value(
            "key_header", run.key_header, origin=Origin.FLAG, label="the journal"
        )
    if config.trust["url"] is not Origin.FLAG:
        origin = Origin.FLAG if is_own else Origin.FILE
        config = config.with_value("url", run.url, origin=origin, label="the journal")
    if config.settings.api_key_env is None and run.api_key_env is not None:
        named = Origin.FLAG if is_own else Origin.FILE
        config = config.with_value(
            "api_key_env", run.api_key_env, origin=named, label="the journal"
        )
    return config


def _is_own(found: FoundRun, ledger: Ledger) -> bool:
    """Whether the user's archive vouches for the journal's address."""
    if found.is_archived:
        return True
    twin = archive_folder() / ledger.header.run_id / found.path.name
    try:
        vouched = read_journal(twin).header if twin.is_file() else None
    except OSError:
        return False
    own = ledger.header
    return vouched is not None and (vouched.config, vouched.options) == (own.config, own.options)


def _check_headers(names: tuple[str, ...], headers: tuple[tuple[str, str], ...]) -> None:
    """Values of extra headers are not kept in a journal, so they are given again."""
    given = {name.lower() for name, _ in headers}
    lost = [name for name in names if name.lower() not in given]
    if lost:
        message = f"the run sent extra headers whose values are not kept: {', '.join(lost)}"
        raise UsageFault(message, hint="give them again with `-H` or `--header-env`")


def _same_body(config: Config, sha256: str | None) -> bytes | None:
    """Return the run's request body, which has to be the one it began with."""
    if sha256 is None:
        return None
    body = read_body(config)
    if body is None:
        raise UsageFault("the run sends a file's bytes", hint="name it again with `--body FILE`")
    if body_hash(body) != sha256:
        raise UsageFault("the file of `--body` is not the one that the run began with")
    return body
