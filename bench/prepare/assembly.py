"""The request for a run, put together from what was checked and chosen."""

import re
from datetime import datetime

from bench.app import RunRequest
from bench.config import Config
from bench.job_messages import Hello
from bench.model.blocks import Block, PlannedTrial
from bench.model.case import Case
from bench.model.record import Value
from bench.model.run_config import RunConfig
from bench.plan import plan_hash
from bench.prepare.access import Access
from bench.prepare.consent import free_because
from bench.prepare.selection import Selection
from bench.raw_body import body_hash

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_STEM = 120
"""Characters of the models' part: file systems end at 255 bytes, and suffixes follow."""


class Moment(Value, frozen=True, kw_only=True):
    """When a run was asked for, and what tells it from others of that moment."""

    now: datetime
    """UTC."""
    salt: str
    """A few random characters."""

    @property
    def stamp(self) -> str:
        """Return the time for a file name, milliseconds included."""
        return f"{self.now:%Y-%m-%dT%H-%M-%S}-{self.now.microsecond // 1000:03d}Z"


class Preparation(Value, frozen=True, kw_only=True):
    """A run that can begin, and its plan."""

    request: RunRequest
    plan: tuple[Block, ...]
    trials: tuple[PlannedTrial, ...]
    """None under load, where they follow from stages."""
    plan_hash: str
    free_because: str | None
    """``None`` = it may cost money."""

    @property
    def cases(self) -> dict[str, Case]:
        """Return the run's cases by id."""
        return {case.info.id: case for case in self.request.cases}


def assemble(
    config: Config,
    access: Access,
    selection: Selection,
    *,
    hello: Hello | None,
    body: bytes | None,
    moment: Moment,
) -> Preparation:
    """Return the run as it will be recorded.

    Args:
        config: Resolved settings.
        access: Checked address.
        selection: Targets and cases.
        hello: Of the job around the gateway, where there is one.
        body: Of `--body`.
        moment: For id and file names.
    """
    free = free_because(hello, selection.listing, access.address) or selection.free_because
    if selection.is_base_paid:
        free = None
    run = _run_config(config, access, selection, body=body, is_paid=free is None)
    request = RunRequest(
        config=run,
        targets=selection.targets,
        cases=selection.cases,
        output_folder=config.output_folder(),
        stem=f"{stem_of(run.model_ids)}-{moment.stamp}",
        run_id=hello.run_id if hello else f"{moment.now:%Y%m%dT%H%M%S}-{moment.salt}",
        options=config.origins,
        is_simulated=free is not None and selection.listing.is_simulator,
        load=selection.load,
    )
    infos = tuple(case.info for case in selection.cases)
    plan = request.plan()
    return Preparation(
        request=request,
        trials=tuple(trial for block in plan for trial in block.trials),
        plan=plan,
        plan_hash=plan_hash(plan, infos, selection.targets),
        free_because=free,
    )


def stem_of(model_ids: tuple[str, ...]) -> str:
    """Return the models' part of the file names: what is unfit for a name becomes a dash.

    A name that began with a dot would be a hidden file.
    """
    stem = _NOT_IN_NAMES.sub("-", "-".join(model_ids)).lstrip("-.")
    return stem[:_LONGEST_STEM].rstrip("-") or "model"


def _run_config(
    config: Config, access: Access, selection: Selection, *, body: bytes | None, is_paid: bool
) -> RunConfig:
    settings = config.settings
    names = [name for name, _ in (*settings.header, *settings.header_env)]
    return RunConfig(
        model_ids=tuple(dict.fromkeys(target.model_id for target in selection.targets)),
        profile=selection.profile,
        suite=selection.suite,
        case_ids=settings.case,
        not_run=dict(selection.not_run),
        user_cases=selection.user_cases,
        external_suite=selection.external,
        mappings=settings.mapping,
        url=access.endpoint.url,
        api_key_env=access.key_variable,
        key_header=settings.key_header,
        api=settings.api,
        dialect=selection.dialect.name,
        http_version=settings.http_version,
        proxy=access.proxy.shown if access.proxy else None,
        retry_429=settings.retry_429,
        stream=settings.stream,
        runs=settings.runs,
        warmup_runs=settings.warmup,
        seed=settings.seed,
        budget_ms=settings.budget,
        timeout_ms=settings.timeout,
        max_cost_usd=settings.max_cost,
        max_tokens=settings.max_tokens,
        max_turns=settings.max_turns,
        temperature=settings.temperature,
        reasoning_effort=settings.reasoning_effort,
        reference=settings.reference,
        parallel_groups=settings.parallel_groups,
        overlap=settings.overlap,
        allow_cache=settings.allow_cache,
        allow_fallback=settings.allow_fallback,
        save_responses=settings.responses,
        header_names=tuple(names),
        slos=tuple(slo.text for slo in settings.slo),
        gates=tuple(gate.text for gate in settings.fail_on),
        is_strict=settings.strict,
        spread_ms=settings.spread,
        body_sha256=body_hash(body) if body else None,
        is_paid=is_paid,
        paired=selection.pairing,
    )
