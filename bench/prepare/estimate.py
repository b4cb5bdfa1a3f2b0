"""What a run may cost at most, before its first request. Pure.

The bounds are those of the money limit (`bench.money.reserve_usd`): bytes of a request for its
tokens, and its own limit, else the catalogue's, for the answer's.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from bench.model.case import Case
from bench.model.run import PlannedTrial, RunConfig
from bench.model.target import Target
from bench.money import reserve_usd, source_of
from bench.runner.assignment import asked
from bench.wire import PROTOCOLS

_THOUSAND = 1_000
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
        requests=len(parts),
        input_tokens=sum(part.size for part in parts),
        output_tokens=None if None in outputs else sum(output or 0 for output in outputs),
        usd=sum(part.usd or 0.0 for part in parts),
        unbounded=unbounded,
        endless={
            trial.target_id: "a task takes as many turns as its model wants"
            for trial in listed
            if cases[trial.case_id].info.kind == "agentic"
        },
        sources=tuple(
            dict.fromkeys(
                source_of(part.target.metadata.prices) for part in parts if part.usd is not None
            )
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One request's bounds."""

    target: Target
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
        target = targets[trial.target_id]
        key = (trial.case_id, trial.seed, target.model)
        if key not in sizes:
            request = asked(cases[trial.case_id].build(trial.seed).request, config)
            sent = body or wire.encode(request, model=target.model, stream=config.stream)
            sizes[key] = (len(sent), wire.output_limit(request))
        size, limit = sizes[key]
        output = limit if limit is not None else target.metadata.max_output_tokens
        usd = reserve_usd(target=target, request_bytes=size, max_tokens=limit)
        yield _Part(target=target, size=size, output=output, usd=usd)


def _why(target: Target, output: int | None) -> str:
    prices = target.metadata.prices
    if prices is None or prices.input_usd is None or prices.output_usd is None:
        return "no price is known"
    return "its answers have no limit" if output is None else "no bound"


def _about(tokens: int) -> str:
    return str(tokens) if tokens < _THOUSAND else f"{tokens / _THOUSAND:.0f} thousand"
