"""What a run may cost at most, before its first request. Pure.

The bounds are those of the money limit (`bench.money.reserve_usd`): bytes of a request for its
tokens, and its own limit, else the catalogue's, for the answer's. A coding task counts with all the
turns it may take: each sends again what was said and told before, as long as all of it may be.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from bench.model.blocks import PlannedTrial
from bench.model.case import Case, ChatRequest
from bench.model.record import Value
from bench.model.run_config import RunConfig
from bench.model.target import Target
from bench.money import reserve_usd, source_of
from bench.runner.assignment import asked
from bench.wire import PROTOCOLS

_THOUSAND, _MILLION = 1_000, 1_000_000
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Upper bounds over all planned trials, warm-ups included."""

    requests: int
    input_tokens: int
    """Bytes of the requests: never fewer than their tokens."""
    output_tokens: int | None
    """``None`` = some answer has no limit."""
    usd: float
    """Of the requests whose cost has a bound."""
    unbounded: Mapping[str, str]
    """Target id → why the cost of one of its requests has no bound."""
    endless: Mapping[str, str] = field(default_factory=dict)
    """Target id → why nobody knows how many requests it takes. Each one may have a bound, so that a
    money limit can be kept."""
    is_open_ended: bool = False
    """Time decides how many requests there are: ``requests`` are the ones that are known."""
    sources: tuple[str, ...] = ()
    """Who says the prices behind ``usd``."""
    turns: int | None = None
    """With so many turns each coding task was counted; ``None`` = there is none."""

    def text(self) -> str:
        """Return the estimate for people, one paragraph."""
        output = (
            "an unknown number of" if self.output_tokens is None else _about(self.output_tokens)
        )
        money = f"at most ${self.usd:.4f}"
        if self.unbounded or self.endless:
            known = f"{money} for the rest, and " if self.usd else ""
            money = f"{known}an unknown amount ({'; '.join(self._reasons())})"
        if self.sources:
            money += f"; prices: {', '.join(self.sources)}"
        more = " or more" if self.endless else ""
        more = " and as many as fit into the time" if self.is_open_ended else more
        if self.turns is not None:
            money += f"; each coding task counted with {self.turns} turns as long as they may get"
        return (
            f"{self.requests} request{'' if self.requests == 1 else 's'}{more}, at most {_about(self.input_tokens)} tokens in and "
            f"{output} out: {money}"
        )

    def _reasons(self) -> Iterator[str]:
        """Yield each reason once, with the first targets it holds for."""
        known = [*self.unbounded.items(), *self.endless.items()]
        for why in dict.fromkeys(reason for _, reason in known):
            targets = [target for target, reason in known if reason == why]
            more = f" and {len(targets) - _MOST_NAMED} more" if len(targets) > _MOST_NAMED else ""
            yield f"{', '.join(targets[:_MOST_NAMED])}{more}: {why}"


def estimate(
    trials: Iterable[PlannedTrial],
    *,
    targets: Iterable[Target],
    cases: Mapping[str, Case],
    config: RunConfig,
    body: bytes | None = None,
) -> Estimate:
    """Return what the trials cost at most.

    Args:
        trials: All that will be asked.
        targets: Whom.
        cases: By id.
        config: The run's own limits go before the cases'.
        body: Sent in place of each request.
    """
    by_id = {target.id: target for target in targets}
    listed = tuple(trials)
    parts = list(_parts(listed, by_id, cases, config, body))
    outputs = [part.output for part in parts]
    unbounded = {
        part.target.id: _why(part.target, part.output) for part in parts if part.usd is None
    }
    return Estimate(
        requests=sum(part.requests for part in parts),
        input_tokens=sum(part.size for part in parts),
        output_tokens=None if None in outputs else sum(output or 0 for output in outputs),
        usd=sum(part.usd or 0.0 for part in parts),
        unbounded=unbounded,
        sources=tuple(
            dict.fromkeys(
                source_of(part.target.metadata.prices) for part in parts if part.usd is not None
            )
        ),
        turns=_turns(config)
        if any(cases[trial.case_id].info.kind == "agentic" for trial in listed)
        else None,
    )


class _Part(Value, frozen=True, kw_only=True):
    """The bounds of one trial's requests."""

    target: Target
    requests: int
    size: int
    output: int | None
    usd: float | None


def _parts(
    trials: Iterable[PlannedTrial],
    targets: Mapping[str, Target],
    cases: Mapping[str, Case],
    config: RunConfig,
    body: bytes | None,
) -> Iterator[_Part]:
    sizes: dict[tuple[str, int, str], tuple[int, int | None]] = {}
    wire = PROTOCOLS[config.api]
    for trial in trials:
        target, case = targets[trial.target_id], cases[trial.case_id]
        is_task = case.info.kind == "agentic"
        key = (trial.case_id, trial.seed, target.model)
        if key not in sizes:
            request = asked(case.build(trial.seed).request, config)
            if is_task:
                request = _first_turn(request)
            sent = body or wire.encode(request, model=target.model, stream=config.stream)
            sizes[key] = (len(sent), wire.output_limit(request))
        size, limit = sizes[key]
        output = limit if limit is not None else target.metadata.max_output_tokens
        turns = _turns(config) if is_task else 1
        grown = list(_grown(size, output, target, turns)) if is_task else [size]
        costs = [reserve_usd(target=target, request_bytes=n, max_tokens=limit) for n in grown]
        known = [cost for cost in costs if cost is not None]
        yield _Part(
            target=target,
            requests=turns,
            size=sum(grown),
            output=None if output is None else output * turns,
            usd=sum(known) if len(known) == turns else None,
        )


def _turns(config: RunConfig) -> int:
    from bench.agent.loop import TURN_LIMIT  # only coding tasks need the agent

    return config.max_turns or TURN_LIMIT


def _first_turn(request: ChatRequest) -> ChatRequest:
    from bench.agent.session import opening
    from bench.agent.tools import TOOL_SCHEMAS

    return msgspec.structs.replace(request, messages=opening(request.messages), tools=TOOL_SCHEMAS)


def _grown(size: int, output: int | None, target: Target, turns: int) -> Iterator[int]:
    """Yield the bytes of each turn's request; no model takes more tokens than its context has."""
    from bench.agent.session import most_result_bytes

    said = output or 0
    context = target.metadata.context_size
    for number in range(turns):
        most = size + number * (said + most_result_bytes(said))
        yield most if context is None or number == 0 else min(most, max(size, context))


def _why(target: Target, output: int | None) -> str:
    prices = target.metadata.prices
    if prices is None or prices.input_usd is None or prices.output_usd is None:
        return "no price is known"
    return "its answers have no limit" if output is None else "no bound"


def _about(tokens: int) -> str:
    if tokens < _THOUSAND:
        return str(tokens)
    if tokens < _MILLION:
        return f"{tokens / _THOUSAND:.0f} thousand"
    return f"{tokens / _MILLION:.1f} million"
