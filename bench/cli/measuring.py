"""A new run from typed options to its end: prepare, agree on money, run, tell."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bench.app import RunRequest, Session, run_plan
from bench.cli.agreeing import agree, day_account, most_of, within_the_day
from bench.cli.configured import configured
from bench.cli.console import Console
from bench.cli.going_on import Again, typed_again
from bench.cli.outcome import Outcome
from bench.cli.place import archive_folder
from bench.cli.senders import load_executor
from bench.cli.talk import (
    accept_link,
    carried_out,
    chosen,
    is_interactive,
    set_up_log,
    show_progress,
    terminal_width,
)
from bench.clock import SystemClock
from bench.config import Config
from bench.endpoint import resolve
from bench.link import JobLink
from bench.model.record import Value
from bench.prepare.access import Access, find_access, make_endpoint, read_body
from bench.prepare.assembly import Moment, Preparation, assemble
from bench.prepare.coding import (
    find_workbench,
    sandbox_note,
    with_coding_budget,
    without_not_runnable,
)
from bench.prepare.consent import free_because
from bench.prepare.estimate import Estimate, estimate
from bench.prepare.load import estimate_load, with_load
from bench.prepare.offering import offered
from bench.prepare.pairing import BaseArm, Found, Labels, find_base, paired
from bench.prepare.pricing import is_priced, price_note, with_library_prices
from bench.prepare.selection import Selection, select
from bench.prepare.shaping import shaped
from bench.prepare.unfinished import find_unfinished, refuse_twice
from bench.price_library import PriceLibrary
from bench.raw_body import body_case, body_model
from bench.repository import common_folder

if TYPE_CHECKING:
    from bench.agent.workplace import Workbench


class _Ready(Value, frozen=True, kw_only=True):
    """Everything that is known before the first request to a model."""

    config: Config
    access: Access
    selection: Selection
    link: JobLink | None
    body: bytes | None
    preparation: Preparation
    workbench: "Workbench | None"
    """``None`` = no agentic case is asked."""
    base: BaseArm | None
    """Of a comparison of two endpoints."""


def measure(
    params: Mapping[str, Any], console: Console, *, labels: Labels | None = None
) -> Outcome:
    """Run a new plan.

    Args:
        params: Of the command, positional words merged in.
        console: Talks.
        labels: Of a comparison of two endpoints; ``None`` = one is measured.
    """
    ready = _prepare(params, console, labels)
    load_executor(ready.config, ready.access)  # too many are refused before money is spoken of
    free = ready.preparation.free_because
    if free is not None:
        console.say(f"free run: {free}")
        return _carried_out(ready, ready.preparation.request, console)
    twin = _unfinished(ready, params)
    if twin is not None:
        from bench.cli.resuming import resume_journal  # a new run needs nothing of it
        from bench.runs import FoundRun

        return resume_journal(FoundRun(path=twin, is_archived=False), params, console)
    return _paid(ready, params, console)


def _paid(ready: _Ready, params: Mapping[str, Any], console: Console) -> Outcome:
    """Run what may cost money: with a yes, and within the user's limit per day."""
    request, bounds, account = ready.preparation.request, _bounds(ready), day_account()
    console.say(f"paid run: {bounds.text()}")
    agree(
        bounds,
        run=request.config,
        account=account,
        allow_unknown_cost=ready.config.settings.allow_unknown_cost,
        said_yes=bool(params.get("yes")),
    )
    most = most_of(bounds, limit_usd=request.config.max_cost_usd)
    with within_the_day(account, request.run_id, most_usd=most, console=console) as claim:
        if claim is None:
            return _carried_out(ready, request, console)
        config = msgspec.structs.replace(request.config, day_allowance_usd=claim.granted_usd)
        outcome = _carried_out(ready, replace(request, config=config), console)
        if outcome.spent_usd is not None:
            claim.settle(outcome.spent_usd)
        return outcome


def _carried_out(ready: _Ready, request: RunRequest, console: Console) -> Outcome:
    settings = ready.config.settings
    base = ready.base
    executor, workers = load_executor(ready.config, ready.access)
    session = Session(
        endpoint=make_endpoint(request.config, ready.access, body=ready.body),
        arms=({base.arm.target_id: base.endpoint(request.config, body=ready.body)} if base else {}),
        progress=show_progress(quiet=settings.quiet),
        link=ready.link,
        archive_folder=archive_folder() if settings.archive else None,
        has_tags=settings.tag,
        require_complete=settings.require_complete,
        summary_width=terminal_width(),
        executor=executor,
        workers=workers,
        repository=common_folder(ready.config.git_root),
        workbench=ready.workbench,
    )
    return carried_out(lambda: run_plan(request, session), console, _again(ready))


def _again(ready: _Ready) -> Again:
    """Return what goes on with the run besides its journal."""
    run, has_job = ready.preparation.request.config, ready.link is not None
    return typed_again(ready.config, ready.access, run, has_job=has_job)


def _prepare(params: Mapping[str, Any], console: Console, labels: Labels | None) -> _Ready:
    set_up_log(int(params.get("verbose") or 0), console)
    config = configured(params, console)
    shape = shaped(config, is_compared=labels is not None)
    config = shape.config
    for note in shape.notes:
        console.say(note)
    access = find_access(
        config, trusted_hosts=tuple(params.get("trusted_hosts") or ()), resolve=resolve
    )
    console.keep_secret(*access.secrets)
    clock = SystemClock()
    link = accept_link(clock, console)
    body = read_body(config)
    models = config.settings.model
    if body is not None:
        models = (body_model(body, typed=models[0] if models else None),)
    listing = offered(config, access, models=models)
    selection = select(config, listing, models=models, today=clock.utcnow().date())
    if body is not None:
        selection = selection.of_case(body_case(body))
    selection = with_load(selection, shape.load)
    config = with_coding_budget(config, selection.cases)
    hello, base = link.hello if link else None, None
    if labels is not None:
        labels = labels.known_to(hello)
        trusted = tuple(params.get("trusted_hosts") or ())
        found = find_base(config, hello, trusted_hosts=trusted)
        selection, base = _with_base(config, access, found, selection, labels, console)
    if free_because(hello, listing, access.address) is None:
        selection = _with_prices(config, access, selection, now=clock.utcnow())
    workbench = find_workbench(selection.cases, allow_reduced=config.settings.allow_reduced_sandbox)
    if workbench is not None:
        console.say(sandbox_note(workbench.described()))
    selection = without_not_runnable(selection, workbench)
    # The job around this has named its gateway; "typed" would be said of what nobody typed.
    for note in (*(() if link else access.notes), *selection.notes):
        console.say(note)
    preparation = assemble(
        config,
        access,
        selection,
        hello=hello,
        body=body,
        moment=Moment(now=clock.utcnow(), salt=secrets.token_hex(3)),
    )
    return _Ready(
        config=config,
        access=access,
        selection=selection,
        link=link,
        body=body,
        preparation=preparation,
        workbench=workbench,
        base=base,
    )


def _with_base(
    config: Config,
    access: Access,
    found: Found,
    selection: Selection,
    labels: Labels,
    console: Console,
) -> tuple[Selection, BaseArm]:
    """Return the selection with the endpoint that is held against as its second target."""
    console.keep_secret(*found.access.secrets)
    selection, base = paired(config, selection, access, found, labels)
    if labels.is_same is not None:  # the job around both gateways has told all of it
        return selection, base
    for note in found.access.notes:
        console.say(f"{labels.base}: {note}")
    if selection.pairing is not None and selection.pairing.is_same:
        console.say("both arms are the same address: what they differ by is chance (A/A)")
    return selection, base


def _with_prices(
    config: Config, access: Access, selection: Selection, *, now: datetime
) -> Selection:
    """Return the selection with the price library's prices where the gateway lists none."""
    if not config.settings.price_library or all(map(is_priced, selection.targets)):
        return selection
    library = PriceLibrary.load()
    targets = with_library_prices(selection.targets, library, url=access.endpoint.url, now=now)
    told = price_note(targets)
    return replace(selection, targets=targets, notes=(*selection.notes, *([told] if told else [])))


def _bounds(ready: _Ready) -> Estimate:
    request = ready.preparation.request
    if request.load is not None or request.config.paired is not None:
        return estimate_load(
            ready.preparation.plan,
            targets=ready.selection.targets,
            cases=ready.preparation.cases,
            config=ready.preparation.request.config,
            body=ready.body,
        )
    return estimate(
        ready.preparation.trials,
        targets=ready.selection.targets,
        cases=ready.preparation.cases,
        config=ready.preparation.request.config,
        body=ready.body,
    )


def _unfinished(ready: _Ready, params: Mapping[str, Any]) -> Path | None:
    """Return the journal that a person would rather resume.

    Raises:
        Refused: Nobody can be asked, or the answer was to stop.
    """
    if params.get("again"):
        return None
    request = ready.preparation.request
    found = find_unfinished(
        request.output_folder,
        plan_hash=ready.preparation.plan_hash,
        url=request.config.url,
    )
    if found is None:
        return None
    refusal = refuse_twice(found, _again(ready).command(str(found)))
    if not is_interactive():
        raise refusal
    match chosen(refusal.message):
        case "resume":
            return found
        case "again":
            return None
        case "stop":
            raise refusal
