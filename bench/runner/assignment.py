"""What a runner is asked to do: the part of a plan that has no result yet, and where it goes on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec

from bench.ledger import Ledger
from bench.load.blocks import is_load
from bench.model.blocks import Block, PlannedTrial
from bench.model.case import Case, ChatRequest
from bench.model.header import NewLimits
from bench.model.load import Stage, StageDone
from bench.model.run_config import RunConfig
from bench.model.target import Target
from bench.model.trial import Refusal
from bench.model.turn import TurnTrace
from bench.runner.ending import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A new run and a resumed one look the same from here."""

    run_id: str
    config: RunConfig
    targets: Mapping[str, Target]
    cases: Mapping[str, Case]
    blocks: tuple[Block, ...]
    """In plan order, with only the trials that are to be asked."""
    attempts: Mapping[str, int]
    """Trial id → attempts that a journal has already."""
    facts: Mapping[str, Fact]
    """Trial id → its valid last record from earlier."""
    origin_ns: int
    """Monotonic reading at which this process's offsets begin."""
    offset_ms: float
    """The offset at ``origin_ns``: 0 in a new run."""
    budget_used_ms: Mapping[str, float]
    spent_usd: float
    unknown_costs: int
    recorded_turns: Mapping[str, tuple[TurnTrace, ...]] = field(default_factory=dict)
    """Id of an agentic trial → turns that it goes on from."""
    refusals: Mapping[str, tuple[Refusal, ...]] = field(default_factory=dict)
    """Trial id → its attempts that HTTP 429 refused, where none was answered yet."""
    stages: tuple[tuple[Stage, StageDone], ...] = ()
    """Load stages that are finished, in the order in which they ended."""
    stage_attempts: Mapping[tuple[str, str, int], int] = field(default_factory=dict)
    """Target, case and number of a load stage → how often it was begun."""
    has_tags: bool = True
    """Requests carry run and trial id, so that they can be found in a bill."""
    require_complete: bool = False

    @classmethod
    def of(
        cls,
        ledger: Ledger,
        *,
        cases: Mapping[str, Case],
        origin_ns: int,
        new_limits: NewLimits | None = None,
        has_tags: bool = True,
        require_complete: bool = False,
    ) -> Self:
        """Return what ``ledger`` lacks.

        Args:
            ledger: Of a journal that may hold nothing but its header.
            cases: The cases of its plan, by id.
            origin_ns: The clock now.
            new_limits: In place of the recorded ones.
            has_tags: Send run and trial id along.
            require_complete: A cut by time counts as incomplete.
        """
        missing = {trial.id for trial in ledger.missing}
        return cls(
            run_id=ledger.header.run_id,
            config=ledger.config(new_limits),
            targets={target.id: target for target in ledger.header.targets},
            cases=cases,
            blocks=tuple(_remaining(ledger, missing)),
            attempts=ledger.attempts,
            refusals=ledger.refusals,
            facts={t.id: Fact.of(t) for t in ledger.trials if t.id not in missing},
            origin_ns=origin_ns,
            offset_ms=ledger.offset_ms,
            budget_used_ms=ledger.budget_used_ms,
            spent_usd=ledger.known_spend_usd,
            unknown_costs=ledger.unknown_costs,
            stages=ledger.stages.finished,
            stage_attempts=ledger.stages.attempts,
            recorded_turns=ledger.recorded_turns,
            has_tags=has_tags,
            require_complete=require_complete,
        )

    def is_agentic(self, planned: PlannedTrial) -> bool:
        """Say whether a trial takes turns with tools."""
        return self.cases[planned.case_id].info.kind == "agentic"


def asked(request: ChatRequest, config: RunConfig) -> ChatRequest:
    """Return a case's request with the run's own settings in place of the case's."""
    own = {
        name: value
        for name in ("max_tokens", "temperature", "reasoning_effort")
        if (value := getattr(config, name)) is not None
    }
    return msgspec.structs.replace(request, **own) if own else request


def parameters(request: ChatRequest) -> dict[str, Any]:
    """Return what is sent besides the messages; of tools only their names."""
    tools = request.tools or ()
    known = {
        "maxTokens": request.max_tokens,
        "temperature": request.temperature,
        "reasoningEffort": request.reasoning_effort,
        "tools": [tool.get("function", {}).get("name") for tool in tools] or None,
        "toolChoice": request.tool_choice,
    }
    return {**request.extra, **{name: value for name, value in known.items() if value is not None}}


def _remaining(ledger: Ledger, missing: set[str]) -> list[Block]:
    blocks = []
    for block in ledger.header.plan:
        if is_load(block):
            blocks += [] if ledger.stages.is_finished(block) else [block]
            continue
        trials = tuple(trial for trial in block.trials if trial.id in missing)
        if trials:
            blocks.append(msgspec.structs.replace(block, trials=trials))
    return blocks
