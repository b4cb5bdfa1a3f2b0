"""The turns of one agentic trial, from its first request until it ends by one of its names.

The loop knows neither money nor network nor journal: it asks through a desk, which may refuse, and
hands it each turn to be written down before the next one begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from bench.agent.session import NS_PER_MS, Session
from bench.agent.workspace import tree_hash
from bench.model.agent import AgentRun, AgentStop
from bench.model.case import Message
from bench.model.turn import TurnTrace
from bench.ports import Clock

TURN_LIMIT = 24
"""Turns of one trial; the reference solutions need a third of them."""
TASK_LIMIT_MS = 1_800_000.0
"""Wall clock of one trial. A limit for endless waits; the time budget is the usual one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request with its end."""

    turn: TurnTrace
    """Without calls; the tool calls of the answer stand in its response."""
    waited_ms: float = 0.0
    """Before it was sent, for money or for its turn among others: nobody's overhead."""
    stop: AgentStop | None = None
    """Why nothing can follow on it."""


class Desk(Protocol):
    """What the loop needs from the run around it."""

    async def ask(self, number: int, messages: tuple[Message, ...]) -> Asked | AgentStop:
        """Send the conversation as turn ``number``, or say why nothing may be sent any more."""
        ...

    def note(self, turn: TurnTrace) -> None:
        """Write a finished turn down; returns when the record has left this process."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """How a trial went."""

    stop: AgentStop
    turns: tuple[TurnTrace, ...]
    """Recorded ones first."""
    replayed: int
    """How many of them an earlier process had recorded."""


async def work(
    session: Session,
    desk: Desk,
    clock: Clock,
    *,
    recorded: Sequence[TurnTrace] = (),
    turn_limit: int = TURN_LIMIT,
    task_limit_ms: float = TASK_LIMIT_MS,
) -> Worked:
    """Let the model work until it ends.

    Args:
        session: A fresh one.
        desk: Asks, and writes down.
        clock: For the split of the time.
        recorded: Whole turns of an earlier process, taken up before the first request.
        turn_limit: Most turns, recorded ones included.
        task_limit_ms: Most wall clock, recorded turns included; checked before each turn.
    """
    turns = list(recorded)
    for turn in recorded:
        session.take_up(turn)
    used_ms = sum(map(_wall_ms, turns))
    stop = _ended(turns, used_ms, turn_limit, task_limit_ms)
    mark_ns = clock.now_ns()
    while stop is None:
        asked = await desk.ask(len(turns) + 1, session.messages)
        if not isinstance(asked, Asked):
            stop = asked
            break
        turn, stop = await _carried_out(asked, session), asked.stop
        now_ns = clock.now_ns()
        spent_ms = (now_ns - mark_ns) / NS_PER_MS - asked.waited_ms
        mark_ns = now_ns
        own_ms = max(0.0, spent_ms - turn.model_ms - turn.tool_ms)
        turn = msgspec.structs.replace(turn, own_ms=own_ms)
        desk.note(turn)
        turns.append(turn)
        used_ms += _wall_ms(turn)
        stop = stop or _ended(turns, used_ms, turn_limit, task_limit_ms)
    return Worked(stop=stop, turns=tuple(turns), replayed=len(recorded))


def figures(worked: Worked, session: Session, *, reusable_turns: int) -> AgentRun:
    """Return the trial in figures, not graded yet.

    Args:
        worked: How it went.
        session: As it was left.
        reusable_turns: After how many turns it may be gone on with; 0 where it is complete.
    """
    calls = [call for turn in worked.turns for call in turn.calls]
    valid = [call.name for call in calls if not call.invalid]
    model_ms, tool_ms, own_ms = (
        sum(getattr(turn, name) for turn in worked.turns)
        for name in ("model_ms", "tool_ms", "own_ms")
    )
    return AgentRun(
        stop_reason=worked.stop,
        turns=len(worked.turns),
        replayed_turns=worked.replayed,
        reusable_turns=reusable_turns,
        tool_calls=len(calls),
        invalid_calls=len(calls) - len(valid),
        repeated_calls=sum(call.repeated for call in calls),
        calls_by_tool={name: valid.count(name) for name in dict.fromkeys(valid)},
        self_verified=session.is_verified,
        wall_ms=model_ms + tool_ms + own_ms,
        model_ms=model_ms,
        tool_ms=tool_ms,
        own_ms=own_ms,
        tree_hash=tree_hash(session.workspace.files),
        changed_files=session.workspace.changed,
    )


async def _carried_out(asked: Asked, session: Session) -> TurnTrace:
    """Return the turn with its calls carried out; after a failed request none are."""
    turn = asked.turn
    response = msgspec.structs.replace(turn.response, tool_calls=())
    if asked.stop is not None:
        return msgspec.structs.replace(turn, response=response)
    calls = await session.carry_out(turn.response, turn=turn.number)
    tool_ms = sum(call.duration_ms for call in calls)
    return msgspec.structs.replace(turn, response=response, calls=calls, tool_ms=tool_ms)


def _ended(
    turns: Sequence[TurnTrace], used_ms: float, turn_limit: int, task_limit_ms: float
) -> AgentStop | None:
    if not turns:
        return None
    last = turns[-1]
    if not last.calls:
        return "token_limit" if last.response.finish_reason == "length" else "no_tool_calls"
    if len(turns) >= turn_limit:
        return "turn_limit"
    return "task_timeout" if used_ms >= task_limit_ms else None


def _wall_ms(turn: TurnTrace) -> float:
    return turn.model_ms + turn.tool_ms + turn.own_ms
