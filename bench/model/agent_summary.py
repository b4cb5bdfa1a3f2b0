"""What the agentic trials of one target amount to; ``TargetSummary.agent`` in plain form.

Rates are of trials or calls, intervals 95 %, times in milliseconds, money in US dollars.
"""

from bench.model.record import Record
from bench.model.summary import Interval, NumericSummary, Rate


class AgentDifficulty(Record, frozen=True, kw_only=True):
    """The tasks of one difficulty."""

    difficulty: str
    tasks: int
    scored: int
    solved: int
    solve_rate: float | None
    interval: Interval | None
    """Bootstrap over tasks."""


class PassEstimate(Record, frozen=True, kw_only=True):
    """What ``k`` tries at a task are worth; means over the tasks that were scored ``k`` times."""

    k: int
    tasks: int
    pass_at_k: float
    """Chance that at least one of ``k`` tries solves a task."""
    pass_hat_k: float
    """Chance that all of ``k`` tries do."""


class AgentSummary(Record, frozen=True, kw_only=True):
    """Agentic figures of one target. Version 2 has the first three and ``stopReasons``."""

    attempted: int = 0
    """Trials that count: judged ones, and those that a provider's error ended."""
    solved: int = 0
    solve_rate: float | None = None
    """Solved of scored."""
    scored: int = 0
    """Trials with a verdict that the pinned target answered."""
    tasks: int = 0
    """Tasks with a scored trial: what the interval stands on."""
    solve_rate_interval: Interval | None = None
    """Bootstrap over tasks."""
    unscored: dict[str, int] = {}
    """Trials outside the solve rate by stop reason, or ``not_pinned``: another one answered."""
    stop_reasons: dict[str, int] = {}
    """Of all trials."""
    passes: tuple[PassEstimate, ...] = ()
    difficulties: tuple[AgentDifficulty, ...] = ()
    turns: NumericSummary | None = None
    tool_calls: NumericSummary | None = None
    invalid_calls: Rate | None = None
    """Of all calls."""
    repeated_calls: Rate | None = None
    self_verified: Rate | None = None
    """Scored trials whose last run of the tests passed and was followed by no change."""
    wall_ms: NumericSummary | None = None
    model_ms: NumericSummary | None = None
    tool_ms: NumericSummary | None = None
    own_ms: NumericSummary | None = None
    own_ms_per_turn: NumericSummary | None = None
    """One value a trial: its own overhead by its turns."""
    model_share: float | None = None
    """Of the wall clock of all counted trials together."""
    tool_share: float | None = None
    own_share: float | None = None
    first_turn_ttft_ms: NumericSummary | None = None
    """``None`` where first answers had no text, only tool calls."""
    first_turn_first_token_ms: NumericSummary | None = None
    prompt_tokens: NumericSummary | None = None
    """Per trial, all turns together."""
    completion_tokens: NumericSummary | None = None
    cost_usd: float | None = None
    """Of all counted trials; ``None`` if the cost of one is unknown."""
    cost_per_solved_usd: float | None = None
    """That by the solved trials; ``None`` where none was."""
    sandbox_levels: dict[str, int] = {}
    """How well candidate code was held, by trials."""
