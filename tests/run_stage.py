"""A run on fakes: from a plan to what stands in its journal."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from bench.ledger import collect
from bench.model.blocks import Block, PlannedTrial
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.header import Environment, Header
from bench.model.run_config import RunConfig
from bench.model.steps import TrialDone
from bench.model.surroundings import Incident
from bench.model.target import Prices, Target, TargetMetadata
from bench.model.trial import Evaluation, Response, ResponseError, Trial
from bench.runner import Assignment, Control, Ports, Runner
from tests.fakes import FakeClock, MemoryJournal, Reply, ScriptedClient, ScriptedWatch

ENVIRONMENT = Environment(tool_version="0", python="3.11", host="h", system="Linux")
DEATH = Incident(incident_class="gateway_killed", at="z", at_ns=5, summary="killed by SIGKILL")


def target(name="a", prices=None):
    metadata = TargetMetadata(prices=prices)
    return Target(id=name, model=f"p/{name}", model_id=name, display_name=name, metadata=metadata)


def case(case_id="c", judge=None, max_tokens=100):
    def build(seed):
        return Instance(
            request=ChatRequest(
                messages=(Message(role="user", content=f"{case_id} {seed}"),), max_tokens=max_tokens
            ),
            expected="42",
            evaluate=judge or (lambda answer: Evaluation(passed="42" in answer.content)),
        )

    info = CaseInfo(
        id=case_id,
        name=case_id,
        kind="quality",
        category="x",
        dimension="y",
        difficulty="easy",
        runs=1,
        text_hash="h",
    )
    return Case(info=info, build=build)


def block(target_id="a", case_id="c", runs=2, *, warmups=0, alone=False, concurrency=1):
    trials = [(n, True) for n in range(1, warmups + 1)] + [(n, False) for n in range(1, runs + 1)]
    return Block(
        target_id=target_id,
        case_id=case_id,
        alone=alone,
        concurrency=concurrency,
        trials=tuple(
            PlannedTrial(
                id=f"{target_id}|{case_id}|{'w' if is_warm else 'r'}{n}",
                target_id=target_id,
                case_id=case_id,
                run=n,
                warmup=is_warm,
                seed=n,
            )
            for n, is_warm in trials
        ),
    )


def error(code="http_500", status=500):
    fault = ResponseError(code=code, seed_code=code, message="it broke", status=status)
    return Response(status=status, error=fault)


class Stage:
    """One run on fakes, from a plan to what is in its journal."""

    def __init__(self, *blocks, script=None, prices=None, judge=None, room=None, **config):
        self.clock = FakeClock()
        self.client = ScriptedClient(self.clock, script or (lambda _: Reply()))
        self.watch = ScriptedWatch()
        self.sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
        self.journal = MemoryJournal(room=room)
        self.control = Control()
        self.workbench: Any = None  # of agentic trials
        self.seen: list[Trial] = []
        self.on_trial = lambda trial, purse: self.seen.append(trial)
        self.cases = {b.case_id: case(b.case_id, judge) for b in blocks}
        names = dict.fromkeys(b.target_id for b in blocks)
        self.header = Header(
            run_id="run",
            started_at="2026-01-01T00:00:00.000Z",
            stem="s",
            config=RunConfig(model_ids=("a",), url="http://127.0.0.1:1/v1", **config),
            targets=tuple(target(name, prices) for name in names),
            cases=(),
            plan=tuple(blocks),
            plan_hash="p",
            environment=ENVIRONMENT,
        )
        self.earlier = []
        self.runner: Any = None  # once it runs

    def run(self, **options):
        async def go():
            self.runner = self._runner(**options)
            return await self.runner.run()

        return asyncio.run(go())

    def _runner(self, on_incident=lambda _: None, **options):
        ledger = collect([self.header, *self.earlier])
        assignment = Assignment.of(
            ledger, cases=self.cases, origin_ns=self.clock.now_ns(), **options
        )
        ports = Ports(
            client=self.client,
            sink=self.journal,
            clock=self.clock,
            watch=self.watch,
            workbench=self.workbench,
            sleep=self.sleep,
        )
        return Runner(
            assignment,
            ports,
            self.control,
            on_trial=self.on_trial,
            on_incident=on_incident,
        )

    @property
    def trials(self):
        return [r.trial for r in self.journal.records if isinstance(r, TrialDone)]

    @property
    def incidents(self):
        return [r for r in self.journal.records if isinstance(r, Incident)]

    def ledger(self):
        return collect([self.header, *self.earlier, *self.journal.records])


CENTS = Prices(input_usd=0.001, output_usd=0.01, source="catalogue")
"""A request of 100 bytes and 100 tokens reserves 1.1; an answer of 10 and 5 tokens costs 0.06."""


def done(number=1, *, content="x", detail=None):
    """A recorded trial with an answer."""
    return TrialDone(
        trial=Trial(
            id=f"a|c|r{number}",
            target_id="a",
            case_id="c",
            run=number,
            seed=number,
            started_offset_ms=0.0,
            finished_offset_ms=1.5,
            outcome="completed",
            response=Response(content=content),
            evaluation=Evaluation(passed=True, detail=detail),
        )
    )
