"""Where agentic cases run the code that models write, or why they may not."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bench.cases import PROFILES
from bench.config import Config
from bench.errors import UsageFault
from bench.keys import Origin
from bench.model.case import Case
from bench.prepare.selection import Selection

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


def not_runnable(case_ids: Iterable[str], bench: "SandboxBench | None") -> Mapping[str, str]:
    """Return the agentic cases whose language does not run here, and why.

    Found by running a program, before anything is asked: a broken interpreter would look like a
    wrong answer.
    """
    if bench is None:
        return {}
    from bench.sandbox import language_fault

    asked = {name: bench.tasks[name].language for name in case_ids if name in bench.tasks}
    languages = set(asked.values()) - {"python"}  # the probe of the sandbox ran that
    faults = {language: language_fault(language, bench.protections) for language in languages}
    found = {name: faults.get(language) for name, language in asked.items()}
    return {name: why for name, why in found.items() if why is not None}


def without_not_runnable(selection: Selection, bench: "SandboxBench | None") -> Selection:
    """Return the selection without the cases that this machine can't run; they are recorded.

    Raises:
        UsageFault: Nothing else was asked for.
    """
    missing = not_runnable((case.info.id for case in selection.cases), bench)
    if not missing:
        return selection
    left = tuple(case for case in selection.cases if case.info.id not in missing)
    notes = [
        f"not run: {', '.join(case for case, said in missing.items() if said == why)} ({why[:-1]})"
        for why in dict.fromkeys(missing.values())
    ]
    if not left:
        hint = "put a current `node` into `PATH`, or name another case"
        raise UsageFault("; ".join(notes), hint=hint)
    return replace(selection, cases=left, not_run=missing, notes=(*selection.notes, *notes))


def refuse_not_runnable(case_ids: Iterable[str], bench: "SandboxBench | None") -> None:
    """Refuse to go on with cases that this machine can't run.

    Raises:
        UsageFault: There are some; going on would leave them without a verdict.
    """
    for case_id, why in not_runnable(case_ids, bench).items():
        message = f"`{case_id}` can't be run here: {why[:-1]}"
        raise UsageFault(message, hint="put a current `node` into `PATH`")


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
