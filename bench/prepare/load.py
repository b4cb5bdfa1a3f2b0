"""The load that was asked for: its stages, what it asks where nobody said, and what it may cost."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from bench.config import Config
from bench.errors import UsageFault, reason_in
from bench.keys import Origin
from bench.load.recorded import Trace, read_trace
from bench.load.rules import stop_rules
from bench.load.shapes import Wish, planned_requests, stages
from bench.model.blocks import Block, PlannedTrial
from bench.model.case import Case
from bench.model.load import Stage, Sweep
from bench.model.run_config import RunConfig
from bench.model.target import Target
from bench.prepare.estimate import Estimate, estimate
from bench.prepare.selection import Selection
from bench.runner.sizing import sized

Load = tuple[Stage, ...] | Sweep
DEFAULT_CASE = "fixed_output_stream"
"""Asked under load where nobody named a case: one stream of 512 tokens."""
_SELECTORS = ("case", "profile", "suite", "external", "cases", "body")


def find_load(config: Config) -> Load | None:
    """Return the stages or the sweep that the settings ask for; ``None`` = no load.

    Raises:
        UsageFault: Options that exclude or need each other, or a trace that can't be read.
    """
    settings = config.settings
    wish = Wish(
        concurrency=settings.concurrency,
        rate=settings.rate,
        sweep=settings.sweep,
        trace=_trace(config),
        gaps=settings.arrival,
        requests=settings.requests,
        duration_ms=settings.duration,
        warmups=settings.warmup,
        turns=settings.turns,
        lock_step=settings.lock_step,
        stops=stop_rules(settings.stop_on),
    )
    if settings.trace_speed is not None and settings.trace is None:
        raise UsageFault("`--trace-speed` needs `--trace`")
    if not wish.is_load:
        _refuse_without_load(config)
        return None
    if settings.runs is not None:
        message = "`--runs` counts the runs of a plan; under load `-n` says how many requests"
        raise UsageFault(message)
    if settings.spread is not None:
        message = "`--spread` is of a plan; under load `--rate` says how requests are spread"
        raise UsageFault(message, hint="for example `--rate 10/h -d 6h`")
    if config.trust["retry_429"] is Origin.FLAG and settings.retry_429:
        message = "`--retry-429` is of a plan; under load how much is refused is what is measured"
        raise UsageFault(message)
    if settings.turns > 1 and settings.body is not None:
        message = (
            "`--turns` and `--body` exclude each other: a body is sent as it is, byte for byte"
        )
        raise UsageFault(message, hint="its turns would not hold what was said before")
    streamed = next((slo.text for slo in settings.slo if slo.needs_stream), None)
    if streamed is not None and not settings.stream:
        message = f"`--slo {streamed}` needs a stream: without one an answer has no such figure"
        raise UsageFault(message, hint="leave `--no-stream` out, or bound `total`")
    return stages(wish)


def without_typed_plan(config: Config, load: Load | None) -> Config:
    """Return the settings as they are meant: under load, and over hours, only a typed budget counts.

    Under load one stream is asked where nobody named a case.
    """
    settings = config.settings
    if load is None and settings.spread is None:
        return config
    said = "default under load" if load is not None else "default with --spread"
    if config.trust["budget"] is Origin.DEFAULT:
        config = config.with_value("budget", None, origin=Origin.DEFAULT, label=said)
    if load is None or any(getattr(settings, name) for name in _SELECTORS):
        return config
    return config.with_value("case", (DEFAULT_CASE,), origin=Origin.DEFAULT, label=said)


def with_load(selection: Selection, load: Load | None) -> Selection:
    """Return the selection with the stages in place of its cases' own runs.

    Raises:
        UsageFault: One of the cases is agentic: its requests are not one like another.
    """
    agentic = [case.info.id for case in selection.cases if case.info.kind == "agentic"]
    if load is not None and agentic:
        message = f"`{agentic[0]}` is a task with tools and can't be asked under load"
        raise UsageFault(message, hint="leave `-n`, `-d` and `--rate` out, or name another case")
    return replace(selection, load=load)


def estimate_load(
    plan: Iterable[Block],
    *,
    targets: tuple[Target, ...],
    cases: Mapping[str, Case],
    config: RunConfig,
    body: bytes | None,
) -> Estimate:
    """Return what the stages of ``plan`` may cost at most.

    One request stands for all of its stage: they differ in a nonce of equal length.
    """
    parts = []
    for block in plan:
        stage = block.sweep.template if block.sweep is not None else block.stage
        if stage is not None:
            one = _one(block, stage, targets=targets, cases=cases, config=config, body=body)
            parts.append(_times(one, block, stage))
    return together(parts)


def _one(
    block: Block,
    stage: Stage,
    *,
    targets: tuple[Target, ...],
    cases: Mapping[str, Case],
    config: RunConfig,
    body: bytes | None,
) -> Estimate:
    """Return the bounds of the largest request of a stage."""
    case = cases[block.case_id]
    largest = msgspec.structs.replace(
        stage,
        input_tokens=(max((n or 1 for n in stage.input_tokens), default=None),),
        output_tokens=(max((n or 1 for n in stage.output_tokens), default=None),),
    )
    sizing = replace(case, build=lambda seed: sized(case.build(seed), largest, number=1, seed=seed))
    trial = PlannedTrial(
        id="", target_id=block.target_id, case_id=block.case_id, run=1, seed=config.seed
    )
    return estimate(
        [trial], targets=targets, cases={block.case_id: sizing}, config=config, body=body
    )


def _times(one: Estimate, block: Block, stage: Stage) -> Estimate:
    count = None if block.sweep is not None else planned_requests(stage)
    endless = dict(one.endless)
    if count is None:
        endless[block.target_id] = "time decides how many requests there are"
    elif stage.turns > 1:
        endless[block.target_id] = "its conversations grow"
    number = (count or 0) + stage.warmups
    return replace(
        one,
        requests=number,
        input_tokens=one.input_tokens * number,
        output_tokens=None if one.output_tokens is None else one.output_tokens * number,
        usd=one.usd * number,
        endless=endless,
        is_open_ended=count is None,
    )


def together(parts: Iterable[Estimate]) -> Estimate:
    """Return the bounds of all ``parts``."""
    parts = list(parts)
    outputs = [part.output_tokens for part in parts]
    return Estimate(
        requests=sum(part.requests for part in parts),
        input_tokens=sum(part.input_tokens for part in parts),
        output_tokens=None if None in outputs else sum(output or 0 for output in outputs),
        usd=sum(part.usd for part in parts),
        unbounded={name: why for part in parts for name, why in part.unbounded.items()},
        endless={name: why for part in parts for name, why in part.endless.items()},
        sources=tuple(dict.fromkeys(source for part in parts for source in part.sources)),
        is_open_ended=any(part.is_open_ended for part in parts),
        turns=next((part.turns for part in parts if part.turns is not None), None),
    )


def _trace(config: Config) -> Trace | None:
    path = config.path_of("trace")
    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = reason_in(error) if isinstance(error, OSError) else "it is no UTF-8 text"
        message = f"the trace `{path}` can't be read: {reason}"
        raise UsageFault(message) from error
    return read_trace(text, speed=config.settings.trace_speed or 1.0)


def load_processes(workers: int, *, processors: int, is_local: bool) -> int:
    """Return how many processes send the load.

    Args:
        workers: As it was asked for.
        processors: Of this machine.
        is_local: What is measured runs here too, and needs a processor of its own.

    Raises:
        UsageFault: They would take the time of what they measure, or of one another.
    """
    most = max(1, processors - is_local)
    if workers <= most:
        return workers
    has = "1 processor" if processors == 1 else f"{processors} processors"
    message = f"`--workers {workers}`: this machine has {has}"
    if is_local and processors > 1:
        message += ", and one of them is for the gateway that runs on it"
    hint = f"`--workers {most}` at most; a further process would only wait for a processor"
    raise UsageFault(message, hint=hint)


def _refuse_without_load(config: Config) -> None:
    settings = config.settings
    typed = {
        "--arrival": settings.arrival is not None,
        "--lock-step": settings.lock_step,
        "--stop-on": bool(settings.stop_on),
        "--slo": bool(settings.slo),
        "--workers": config.trust["workers"] is Origin.FLAG,
        "--engine": config.trust["engine"] is Origin.FLAG,
    }
    for name, is_typed in typed.items():
        if is_typed:
            message = f"`{name}` is of load: it needs `-n`, `-d`, `--rate`, `--sweep` or `--trace`"
            raise UsageFault(message)
