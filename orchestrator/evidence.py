"""Gather the evidence of one turn: is it alive, what did it answer, who answered, who listens too."""

from orchestrator.lifecycle import Machine, StartRequest, session_of
from orchestrator.ports import HealthAnswer, HealthQuestion, Held
from orchestrator.readiness import HealthCheck, Turn
from orchestrator.records import GatewayRecord

_HEALTH_TIMEOUT_S = 5.0
_ANY_HOST = frozenset(("0.0.0.0", "::"))  # noqa: S104  # compared with, not bound


def gather(
    machine: Machine,
    request: StartRequest,
    record: GatewayRecord,
    held: Held,
    check: HealthCheck,
) -> Turn:
    """Ask the gateway once.

    Args:
        machine: The ports.
        request: What was asked for.
        record: Of the gateway that comes up.
        held: Its process.
        check: What it is asked.
    """
    answer: HealthAnswer | None = None
    mine, others = frozenset({record.identity.pid}), frozenset[int]()
    if not held.ended(0):
        question = HealthQuestion(
            host=request.host,
            port=record.port,
            path=check.path,
            timeout_s=_HEALTH_TIMEOUT_S,
            headers=check.headers,
        )
        answer = machine.probe.ask(question, mine)
        if answer.owners:
            # After the answer: a worker that gave it may be younger than the question.
            mine |= {one.pid for one in session_of(machine, record.identity, request.run_id)}
            others = _listeners(machine, request.host, record.port) - mine
    return Turn(
        at_ns=machine.clock.now_ns(),
        is_dead=held.ended(0),
        answer=answer,
        members=mine,
        others=others,
    )


def _listeners(machine: Machine, host: str, port: int) -> frozenset[int]:
    """Return who would be reached at the address: with SO_REUSEPORT that may be several."""
    reached = _ANY_HOST | {host}
    listeners = machine.sockets.listeners(port)
    return frozenset().union(*(one.pids for one in listeners if one.host in reached))
