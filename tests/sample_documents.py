"""Builders of runs for tests: targets, cases, trials and ledgers with few words and no IO."""

from __future__ import annotations

from typing import Any

from bench.ledger import Ledger, collect
from bench.model.blocks import Block, PlannedTrial
from bench.model.case import CaseInfo
from bench.model.footer import Footer
from bench.model.header import Environment, Header
from bench.model.journal_record import JournalRecord
from bench.model.run_config import OptionOrigin, RunConfig
from bench.model.steps import Started, TrialDone
from bench.model.surroundings import Gateway, Incident, Sample
from bench.model.target import Prices, Target, TargetMetadata
from bench.model.trial import (
    Evaluation,
    Response,
    ResponseError,
    StreamChunk,
    Timing,
    ToolCall,
    Trial,
    Usage,
)

FAST = Target(
    id="swift/demo-small",
    model="swift/demo-small",
    model_id="demo-small",
    mapping="swift",
    display_name="Demo Small via swift",
    metadata=TargetMetadata(
        provider="swift",
        context_size=128_000,
        max_output_tokens=8_192,
        prices=Prices(input_usd=2e-7, output_usd=8e-7, source="simulator", as_of="2026-11-30"),
    ),
)
SLOW = Target(
    id="steady/demo-small:eu",
    model="steady/demo-small:eu",
    model_id="demo-small",
    mapping="steady:eu",
    display_name="Demo Small via steady:eu",
    metadata=TargetMetadata(
        provider="steady",
        region="eu",
        context_size=128_000,
        prices=Prices(input_usd=1e-7, output_usd=4e-7, source="simulator", as_of="2026-11-30"),
    ),
)


def case_info(case_id: str = "seeded_shortest_path", **fields: Any) -> CaseInfo:
    """Return a quality case unless ``kind`` says otherwise."""
    described: dict[str, Any] = {
        "id": case_id,
        "name": case_id.replace("_", " ").capitalize(),
        "kind": "quality",
        "category": "reasoning",
        "dimension": "planning",
        "difficulty": "medium",
        "runs": 2,
        "text_hash": "ab" * 32,
    }
    return CaseInfo(**described | fields)


PATH = case_info()
PARAPHRASE = case_info(
    "seeded_shortest_path_paraphrase",
    variant_of="seeded_shortest_path",
    variant="paraphrase",
    seed_group="seeded_shortest_path",
)
EXTRACTION = case_info(
    "seeded_structured_extraction", category="extraction", dimension="format", difficulty="easy"
)
TOOLS = case_info(
    "tool_selection_exact", category="tools", dimension="tool use", difficulty="hard", runs=1
)
STREAM = case_info(
    "fixed_output_stream",
    kind="performance",
    category="performance",
    dimension="streaming",
    difficulty="easy",
    runs=5,
    warmup_runs=1,
)


def timing(ttft_ms: float | None = 200.0, total_ms: float | None = 900.0, **fields: Any) -> Timing:
    """Return the timing of an even stream of 40 chunks."""
    if ttft_ms is None or total_ms is None:
        return Timing(total_ms=total_ms, **fields)
    span = total_ms - ttft_ms
    gap = span / 40
    described: dict[str, Any] = {
        "sent_ms": 0.4,
        "headers_ms": ttft_ms - 20,
        "first_event_ms": ttft_ms - 10,
        "first_content_ms": ttft_ms,
        "first_token_ms": ttft_ms,
        "last_token_ms": total_ms - gap,
        "last_content_ms": total_ms - gap,
        "total_ms": total_ms,
        "generation_ms": span,
        "visible_tokens_per_second": 79 / (span / 1_000),
        "content_chunk_count": 40,
        "average_content_chunk_characters": 8.0,
        "max_content_stall_ms": gap * 1.5,
        "final_content_burst_ratio": 0.1,
        "buffered": False,
        "held_back": False,
        "coalesced_share": 0.0,
        "itl_ms": (gap,) * 39,
        "content_itl_ms": (gap,) * 39,
        "tpot_ms": (span - gap) / 79,
        "visible_tpot_ms": (span - gap) / 79,
        "client_lag_ms": 0.3,
    }
    return Timing(**described | fields)


def chunks(times: Timing, count: int = 40) -> tuple[StreamChunk, ...]:
    """Return content chunks spread evenly over the generation."""
    if times.first_content_ms is None or times.last_content_ms is None:
        return ()
    step = (times.last_content_ms - times.first_content_ms) / max(count - 1, 1)
    return tuple(
        StreamChunk(
            at_ms=round(times.first_content_ms + step * n, 3), characters=8, kind="content", read=n
        )
        for n in range(count)
    )


def response(times: Timing | None = None, **fields: Any) -> Response:
    """Return a whole answer of 80 tokens on a warm connection."""
    times = times or timing()
    described: dict[str, Any] = {
        "status": 200,
        "content": "FINAL: 42",
        "finish_reason": "stop",
        "response_model": "demo-small",
        "request_id": "req-1",
        "usage": Usage(
            prompt_tokens=120,
            completion_tokens=80,
            reasoning_tokens=0,
            visible_completion_tokens=80,
            cached_prompt_tokens=0,
        ),
        "stream_chunks": chunks(times),
        "timing": times,
        "connection": "warm",
        "served_provider": "swift",
    }
    return Response(**described | fields)


def failure(code: str = "http_500", *, seed_code: str | None = None, **fields: Any) -> Response:
    """Return a response that ended in an error before any content."""
    error = ResponseError(
        code=code,
        seed_code=seed_code or code,
        message=fields.pop("message", f"the provider answered with {code}"),
        status=fields.pop("status", None),
    )
    return Response(error=error, timing=Timing(total_ms=35.0), connection="warm", **fields)


def verdict(passed: bool | None = True, answer: str | None = "42", **fields: Any) -> Evaluation:
    """Return an evaluation that expected 42."""
    return Evaluation(passed=passed, answer=answer, expected="42", **fields)


def trial(target: Target = FAST, case: CaseInfo = PATH, run: int = 1, **fields: Any) -> Trial:
    """Return a right answer to a quality case, or a valid performance trial."""
    warmup = fields.get("warmup", False)
    offset = 1_000.0 * run
    answered = fields.get("response") or response()
    described: dict[str, Any] = {
        "id": f"{target.id}|{case.id}|{'w' if warmup else 'r'}{run}",
        "target_id": target.id,
        "case_id": case.id,
        "run": run,
        "seed": 1_000 + run,
        "parameters": {"temperature": 0},
        "prompt_hash": f"{run:064x}",
        "started_offset_ms": offset,
        "finished_offset_ms": offset + (answered.timing.total_ms or 0.0),
        "outcome": "completed" if answered.error is None else "failed",
        "response": answered,
        "evaluation": (verdict() if case.kind == "quality" and answered.error is None else None),
        "estimated_cost_usd": 0.000088 if answered.error is None else None,
        "cost_source": "simulator" if answered.error is None else None,
    }
    return Trial(**described | fields)


def planned(case: CaseInfo, target: Target) -> tuple[PlannedTrial, ...]:
    """Return the trials that a case asks of a target."""
    kinds = [(True, n) for n in range(1, case.warmup_runs + 1)]
    kinds += [(False, n) for n in range(1, case.runs + 1)]
    return tuple(
        PlannedTrial(
            id=f"{target.id}|{case.id}|{'w' if warmup else 'r'}{run}",
            target_id=target.id,
            case_id=case.id,
            run=run,
            warmup=warmup,
            seed=1_000 + run,
        )
        for warmup, run in kinds
    )


def header(targets: tuple[Target, ...], cases: tuple[CaseInfo, ...], **fields: Any) -> Header:
    """Return the first record of a run that plans every case on every target."""
    config = RunConfig(
        model_ids=("demo-small",),
        profile="smoke",
        url="http://127.0.0.1:18080/v1/chat/completions",
        api_key_env="LOCAL_GATEWAY_KEY",
        budget_ms=120_000.0,
        is_paid=False,
    )
    described: dict[str, Any] = {
        "run_id": "2026-11-30-demo",
        "started_at": "2026-11-30T09:00:00.000Z",
        "stem": "demo-small-2026-11-30T09-00-00-000Z",
        "config": config,
        "options": {
            "seed": OptionOrigin(value=1, origin="default"),
            "budgetMs": OptionOrigin(value=120_000, origin="flag"),
        },
        "targets": targets,
        "cases": cases,
        "plan": tuple(
            Block(
                target_id=target.id,
                case_id=case.id,
                alone=case.kind == "performance",
                concurrency=1,
                trials=planned(case, target),
            )
            for case in cases
            for target in targets
        ),
        "plan_hash": "cd" * 32,
        "environment": Environment(
            tool_version="0.1.0",
            python="3.11.7",
            host="testbox",
            system="Linux 6.1",
            cpu_count=2,
            load_average=(0.4, 0.3, 0.2),
        ),
    }
    return Header(**described | fields)


def footer(**fields: Any) -> Footer:
    """Return the record of a run that ended in order."""
    described: dict[str, Any] = {
        "finished_at": "2026-11-30T09:00:42.000Z",
        "offset_ms": 42_000.0,
        "reason": "done",
        "exit_code": 0,
    }
    return Footer(**described | fields)


def ledger(
    trials: tuple[Trial, ...],
    *extra: JournalRecord,
    targets: tuple[Target, ...] = (FAST,),
    cases: tuple[CaseInfo, ...] = (PATH,),
    **header_fields: Any,
) -> Ledger:
    """Return what a journal with these trials, and further records after them, says."""
    records: list[JournalRecord] = [header(targets, cases, **header_fields)]
    for done in trials:
        records.append(
            Started(trial_id=done.id, offset_ms=done.started_offset_ms, reserve_usd=0.001)
        )
        records.append(TrialDone(trial=done))
    return collect([*records, *extra])


SMOKE_CASES = (PATH, PARAPHRASE, EXTRACTION, TOOLS, STREAM)


def smoke_trials() -> tuple[Trial, ...]:
    """Return two targets over five cases: one faster, one cheaper, with a few faults."""
    return (*_swift(), *_steady())


def _swift() -> tuple[Trial, ...]:
    warmup_times = timing(340.0, 1_010.0)
    spread = (182.0, 190.5, 201.2, 187.9, 195.4)
    return (
        *(trial(FAST, PATH, run) for run in (1, 2)),
        trial(FAST, PARAPHRASE, 1),
        trial(FAST, PARAPHRASE, 2, evaluation=verdict(False, "41", detail="a longer path")),
        *(trial(FAST, EXTRACTION, run) for run in (1, 2)),
        trial(
            FAST,
            TOOLS,
            1,
            response=response(
                content="",
                finish_reason="tool_calls",
                tool_calls=(
                    ToolCall(id="call-1", name="get_weather", arguments='{"city": "Oslo"}'),
                ),
            ),
        ),
        trial(FAST, STREAM, 1, warmup=True, response=response(warmup_times, connection="cold")),
        *(
            trial(
                FAST,
                STREAM,
                run,
                response=response(timing(ttft, ttft + 640 + 9 * run), finish_reason="length"),
            )
            for run, ttft in enumerate(spread, start=1)
        ),
    )


def _steady() -> tuple[Trial, ...]:
    late = {"served_provider": "steady"}
    slow = {"estimated_cost_usd": 0.000044}
    held = timing(900.0, 1_400.0, held_back=True, buffered=True, final_content_burst_ratio=0.95)
    spread = (412.0, 405.3, 450.9, 431.0)
    return (
        trial(SLOW, PATH, 1, response=response(timing(420, 1_300), **late), **slow),
        trial(
            SLOW,
            PATH,
            2,
            response=failure(
                "http_429", status=429, message="rate limit: try again in 2 s", **late
            ),
        ),
        *(
            trial(SLOW, PARAPHRASE, run, response=response(timing(430, 1_310), **late), **slow)
            for run in (1, 2)
        ),
        *(
            trial(SLOW, EXTRACTION, run, response=response(timing(415, 1_290), **late), **slow)
            for run in (1, 2)
        ),
        trial(SLOW, TOOLS, 1, evaluation=verdict(False, None, detail="no tool was called"), **slow),
        trial(SLOW, STREAM, 1, warmup=True, response=response(held, **late), **slow),
        *(
            trial(
                SLOW,
                STREAM,
                run,
                response=response(timing(ttft, ttft + 1_180 + 11 * run), **late),
                **slow,
            )
            for run, ttft in enumerate(spread, start=1)
        ),
        trial(SLOW, STREAM, 5, response=response(held, **late), **slow),
    )


def gateway_samples() -> tuple[Sample, ...]:
    """Return twelve samples of a small gateway: a warm-up, some work, and rest."""
    memory = (41.2, 48.9, 55.1, 58.0, 60.2, 61.8, 62.4, 62.4, 61.9, 61.9, 61.9, 61.9)
    cpu_ms = (240.0, 410.0, 690.0, 850.0, 910.0, 980.0, 1_020.0, 1_080.0, 1_090.0, *([1_090.0] * 3))
    shared = {"processes": 1.0, "threads": 11.0, "descriptors": 27.0}
    rare = {"pssMb": 37.0, "connectionsIn": 2.0, "connectionsWaiting": 0.0, "connectionsOut": 1.0}
    return tuple(
        Sample(
            at_ns=1_000_000_000 * (n + 1),
            values={
                "rssMb": rss,
                "cpuMs": cpu,
                **shared,
                **(rare if n in (0, len(memory) - 1) else {}),
            },
        )
        for n, (rss, cpu) in enumerate(zip(memory, cpu_ms, strict=True))
    )


def smoke_ledger(**header_fields: Any) -> Ledger:
    """Return a whole simulated smoke run of two targets with a local gateway around it."""
    return ledger(
        smoke_trials(),
        *gateway_samples(),
        Gateway(
            build={"commit": "0123abcd", "dirty": False, "entry": "bench/simulator"},
            identity={"pid": 4242, "startTicks": 1000},
            ready_after_ms=412.0,
            events=({"name": "spawned", "atNs": 1}, {"name": "ready", "atNs": 412_000_001}),
            exit={"code": 0},
            simulated_upstream=True,
        ),
        footer(),
        targets=(FAST, SLOW),
        cases=SMOKE_CASES,
        simulated=True,
        **header_fields,
    )


def killed_ledger() -> Ledger:
    """Return a run whose gateway was killed: a part measured, a part lost, a part never sent."""
    hit = trial(
        FAST,
        EXTRACTION,
        1,
        response=failure("gateway_died", seed_code="request_error"),
        invalidated="gateway_killed",
    )
    return ledger(
        (trial(FAST, PATH, 1), trial(FAST, PATH, 2), hit),
        Started(trial_id=f"{FAST.id}|{EXTRACTION.id}|r2", offset_ms=3_100.0, reserve_usd=0.002),
        Incident(
            incident_class="gateway_killed",
            at="2026-11-30T09:00:03.100Z",
            at_ns=3_100_000_000,
            summary="The gateway (PID 4242) was killed by SIGKILL 3.1 s into the run",
            touched_trials=(hit.id,),
        ),
        footer(reason="gateway", exit_code=4, offset_ms=3_200.0),
        cases=(PATH, EXTRACTION, TOOLS),
    )
