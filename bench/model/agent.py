"""What came of one agentic trial, beside the texts of its turns (``bench.model.turn``)."""

from typing import Literal

from bench.model.record import Record

AgentStop = Literal[
    "no_tool_calls",
    "token_limit",
    "turn_limit",
    "task_timeout",
    "upstream_error",
    "budget",
    "max_cost",
    "interrupted",
    "cancelled",
    "incident",
    "stopped",
]
"""Why a trial took no further turn. The first four are the model's own doing and are judged:

``no_tool_calls``   it answered without calling a tool: it says that it is done
``token_limit``     its answer was cut by the token limit before any tool call
``turn_limit``      it took as many turns as there are
``task_timeout``    it took longer than a task may
``upstream_error``  a request failed
``budget``          the target's time budget was used up between two turns
``max_cost``        the money limit was reached between two turns
``interrupted``     the user ended the run between two turns
``cancelled``       the user cancelled the request in flight
``incident``        the gateway, the machine or this client was hit
``stopped``         the run ended for another reason (its key was refused, its disk was full)
"""

JUDGED_STOPS: frozenset[AgentStop] = frozenset(
    {"no_tool_calls", "token_limit", "turn_limit", "task_timeout"}
)
CUT_STOPS: frozenset[AgentStop] = frozenset({"budget", "max_cost", "interrupted", "stopped"})
"""Ends between two turns: nothing is wrong with the turns there are, ``resume`` goes on."""


class ToolTrace(Record, frozen=True, kw_only=True):
    """One tool call as the model made it, and what it was told."""

    id: str
    """As it was sent back: a missing or repeated id got a new one."""
    name: str
    arguments: str
    """As streamed, which may not be JSON; empty with ``--no-responses``."""
    ok: bool
    """It did what it was asked to."""
    invalid: bool = False
    """It could not be understood or is not allowed: unknown tool, broken or wrong arguments, a
    path out of the repository, one call too many."""
    repeated: bool = False
    """The same call was made before, and nothing has changed since."""
    tests_passed: bool | None = None
    """Of ``run_tests``, as the test runner said, which candidate code can fake."""
    detail: str
    """One line for people."""
    result: str
    """What the model was told; empty with ``--no-responses``."""
    duration_ms: float


class AgentRun(Record, frozen=True, kw_only=True):
    """One agentic trial in figures. Durations in milliseconds; parts of a resumed one are added."""

    stop_reason: AgentStop
    turns: int
    """Requests with a recorded end, a failed last one included."""
    replayed_turns: int = 0
    """Part of ``turns`` that an earlier attempt had recorded and nobody paid again."""
    reusable_turns: int = 0
    """Where the trial is asked again, it goes on after so many of its turns."""
    tool_calls: int
    invalid_calls: int
    repeated_calls: int
    calls_by_tool: dict[str, int] = {}
    """Valid calls only."""
    self_verified: bool
    """It ran the tests, they passed, and it changed nothing afterwards."""
    wall_ms: float
    """From the first turn's beginning to the last one's end, waiting for money or workers left
    out; = ``model_ms + tool_ms + own_ms``."""
    model_ms: float
    """Requests in flight."""
    tool_ms: float
    """Tools at work, tests in the sandbox included."""
    own_ms: float
    """The rest: this program."""
    grading_ms: float | None = None
    """Hidden checks, after the last turn; not in ``wall_ms``. ``None`` = it was not graded."""
    tree_passed: bool | None = None
    """What the hidden checks say of the files, however the trial ended."""
    tree_hash: str
    """SHA-256 of all files at the end."""
    changed_files: tuple[str, ...] = ()
    sandbox_level: str | None = None
    """``full``, ``reduced`` or ``none``: how well candidate code was held."""
