"""Whether a gateway on record is up and ready at this moment; asks once, changes nothing."""

from dataclasses import dataclass
from typing import Any, Literal

from orchestrator.description import GatewayConfig
from orchestrator.lifecycle import Machine, session_of, standing_of
from orchestrator.ports import HealthQuestion
from orchestrator.readiness import HealthCheck, shortcoming
from orchestrator.records import GatewayRecord

_TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One gateway now."""

    state: Literal["ready", "not_ready", "suspended", "gone", "reused", "unknown"]
    why: str


def condition(machine: Machine, record: GatewayRecord) -> Condition:
    """Look at the process, then ask for health on a connection that has to be its own."""
    now = standing_of(machine, record)
    if now.state != "up":
        return Condition(state=now.state, why=now.why)
    members = frozenset(one.pid for one in session_of(machine, record.identity, record.run_id))
    question = HealthQuestion(
        host=record.host, port=record.port, path=record.health_path, timeout_s=_TIMEOUT_S
    )
    answer = machine.probe.ask(question, members)
    fault = shortcoming(answer, _check(record), members)
    if fault is not None:
        return Condition(state="not_ready", why=fault)
    return Condition(state="ready", why=f"HTTP {answer.status} from its own session")


def health_label(config: GatewayConfig) -> dict[str, Any]:
    """Return what a record keeps of the expected answer."""
    check = config.health
    return {
        "status": check.status,
        "text": check.text,
        "field": check.field,
        "equals": check.equals,
    }


def _check(record: GatewayRecord) -> HealthCheck:
    kept = record.labels.get("health")
    expected = kept if isinstance(kept, dict) else {}
    return HealthCheck(path=record.health_path, **expected)
