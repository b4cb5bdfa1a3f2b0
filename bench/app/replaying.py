"""Recorded agentic trials from a journal, chosen and carried out again without a model."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.agent.replay import Replayed, replay, unreplayable
from bench.agent.task import Task
from bench.agent.workplace import Workbench
from bench.errors import UnknownName, UsageFault
from bench.ledger import Ledger
from bench.model.trial import Trial
from bench.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedTrial:
    """One trial and what its replay came to."""

    trial: Trial
    replayed: Replayed


def chosen_trials(ledger: Ledger, ids: Sequence[str]) -> tuple[Trial, ...]:
    """Return the agentic trials that are to be replayed.

    Args:
        ledger: Of the run.
        ids: Trial ids; none = every agentic trial that has a verdict.

    Raises:
        UnknownName: No such trial; names near matches.
        UsageFault: There is nothing to replay, or its texts were not kept.
    """
    agentic = {trial.id: trial for trial in ledger.trials if trial.agent is not None}
    if not agentic:
        raise UsageFault("the run has no agentic trial", hint="`--profile coding` makes some")
    if not ledger.header.config.save_responses:
        raise UsageFault(
            "the run kept no answers (`--no-responses`), so there is nothing to replay",
            hint="the verdicts stand in the journal; a new run without `--no-responses` keeps more",
        )
    for name in ids:
        if name not in agentic:
            raise UnknownName("agentic trial", name, tuple(agentic), listed_by="gateway-bench show")
    judged = [t.id for t in agentic.values() if t.agent and t.agent.tree_passed is not None]
    found = tuple(agentic[name] for name in dict.fromkeys(ids or judged))
    if not found:
        message = f"none of the run's {len(agentic)} agentic trials has a verdict yet"
        raise UsageFault(message, hint="name one with `--trial` to see what its calls come to")
    for trial in found:
        if unreplayable(ledger.turns.get(trial.id, ())):
            message = f"the calls of `{trial.id}` were not kept"
            raise UsageFault(message)
    return found


def check_unchanged(ledger: Ledger, trials: Sequence[Trial], tasks: Mapping[str, Task]) -> None:
    """Refuse tasks that are gone or are not what they were when the run was made.

    Raises:
        UsageFault: Naming each.
    """
    recorded = {case.id: case.text_hash for case in ledger.header.cases}
    said = []
    for case_id in dict.fromkeys(trial.case_id for trial in trials):
        task = tasks.get(case_id)
        if task is None:
            said.append(f"there is no task `{case_id}` any more")
        elif task.text_hash != recorded.get(case_id):
            said.append(f"the text of task `{case_id}` has changed since")
    if said:
        raise UsageFault("; ".join(said), hint="replay with the version that made the run")


def replay_trials(
    ledger: Ledger, trials: Sequence[Trial], bench: Workbench, clock: Clock
) -> tuple[ReplayedTrial, ...]:
    """Replay one trial after another."""

    async def all_of_them() -> tuple[ReplayedTrial, ...]:
        done = []
        for trial in trials:
            if trial.agent is None:
                continue
            turns = ledger.turns.get(trial.id, ())
            replayed = await replay(
                bench.task(trial.case_id), turns, trial.agent, bench=bench, clock=clock
            )
            done.append(ReplayedTrial(trial=trial, replayed=replayed))
        return tuple(done)

    return asyncio.run(all_of_them())
