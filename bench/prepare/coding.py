"""Where agentic cases run the code that models write, or why they may not."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bench.cases import PROFILES
from bench.config import Config
from bench.keys import Origin
from bench.model.case import Case

if TYPE_CHECKING:  # most runs have no agentic case and should not wait for all of this
    from bench.agent.workbench import SandboxBench


def find_workbench(cases: Iterable[Case], *, allow_reduced: bool) -> "SandboxBench | None":
    """Return the tasks and the sandbox that agentic cases among ``cases`` need, else ``None``.

    Args:
        cases: All that will be asked.
        allow_reduced: A person said by name that a reduced sandbox will do.

    Raises:
        Refused: The sandbox of this machine is below the minimum level.
    """
    is_needed = any(case.info.kind == "agentic" for case in cases)
    return open_workbench(allow_reduced=allow_reduced) if is_needed else None


def open_workbench(*, allow_reduced: bool) -> "SandboxBench":
    """Return all tasks and the sandbox for their code.

    Raises:
        Refused: The sandbox of this machine is below the minimum level.
    """
    from bench.agent.loading import load_tasks
    from bench.agent.workbench import SandboxBench
    from bench.sandbox import Sandbox, probe, require

    protections = probe()
    require(protections, allow_reduced=allow_reduced)
    return SandboxBench(tasks=load_tasks(), sandbox=Sandbox(protections), protections=protections)


def with_coding_budget(config: Config, cases: Iterable[Case]) -> Config:
    """Return the settings with the time that agentic cases need, where nobody set another one."""
    is_agentic = any(case.info.kind == "agentic" for case in cases)
    if not is_agentic or config.settings.budget is None or not _is_default(config, "budget"):
        return config
    budget_ms = PROFILES["coding"].default_budget_ms
    return config.with_value(
        "budget", budget_ms, origin=Origin.DEFAULT, label="default with agentic cases"
    )


def _is_default(config: Config, field: str) -> bool:
    return config.trust[field] is Origin.DEFAULT


def sandbox_note(described: Mapping[str, Any]) -> str:
    """Return what to tell of the sandbox before code runs in it."""
    lacking = [item["id"] for item in described["items"] if not item["held"]]
    missing = f"; not held: {', '.join(lacking)}" if lacking else ""
    return f"sandbox: {described['level']} ({described['walls']}{missing})"
