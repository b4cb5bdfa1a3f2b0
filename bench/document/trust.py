"""What stands between a reader and the figures, in plain words, worst first.

Each caveat says what happened with its values, what that does to the figures, and what to do.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.document.client_caveats import client_lag, client_limit, client_saturated
from bench.document.failing_caveats import nothing_answered, provider_down
from bench.document.money_caveats import is_day_limited, money_caveats
from bench.document.pair_caveats import pair_caveats
from bench.document.plan_caveats import plan_caveats
from bench.document.proof_caveats import proof_caveats
from bench.model.document import (
    Caveat,
    CaveatLevel,
    Completeness,
    RunSpend,
)
from bench.model.run_config import RunConfig
from bench.model.steps import Started
from bench.model.summary import Summary
from bench.model.surroundings import Incident
from bench.model.target import Target
from bench.model.trial import Trial
from bench.summary.performance import headline_block

_REASONS = {
    "interrupted": "it was interrupted",
    "budget": "the time budget was used up",
    "max_cost": "the money limit was reached",
    "gateway": "the gateway died, was replaced or stopped answering",
    "no_success": "no request of some target succeeded",
    "set_aside": "something happened to the machine or the gateway while trials were in flight",
    "client_limit": "this machine's own limits kept requests from being sent",
    "worker_lost": "one of several load processes was lost",
    "provider_down": "the provider answered only with errors",
    "key_rejected": "the key was rejected",
    "disk_full": "the disk was full",
    "killed": "the benchmark process was killed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """Everything that a caveat may come from."""

    completeness: Completeness
    config: RunConfig
    spend: RunSpend
    summary: Summary
    trials: Sequence[Trial]
    targets: Sequence[Target] = ()
    incidents: Sequence[Incident] = ()
    possibly_billed: Sequence[Started] = ()
    simulated: bool = False
    is_watched: bool = False
    """A job watched the gateway: a failure that it did not explain was not the gateway's."""
    sampled_of: int = 0
    """Trials of load stages that the kept ones stand for; 0 = all are kept."""
    is_recorded_plan: bool = True


def caveats(run: Circumstances) -> tuple[Caveat, ...]:
    """Return every reason to trust the figures less, worst first."""
    found = [
        *client_saturated(run.summary),
        *pair_caveats(run.summary.paired),
        *_incidents(run.incidents),
        *client_limit(run.trials),
        *provider_down(run.completeness, run.trials, is_watched=run.is_watched),
        *_incomplete(run.completeness, is_day_s=is_day_limited(run.config)),
        *nothing_answered(run.completeness, run.trials),
        *_simulated(simulated=run.simulated),
        *_untold_outage(run),
        *client_lag(run.trials, run.summary),
        *proof_caveats(run.trials, run.targets),
        *_connection(run.summary),
        *_held_back(run.summary),
        *_overlap(run.config),
        *_sampled(run),
        *money_caveats(run.config, run.spend, run.summary, run.possibly_billed),
        *plan_caveats(run.config),
        *_record(run.completeness, is_recorded_plan=run.is_recorded_plan),
    ]
    order = {"broken": 0, "doubtful": 1, "note": 2}
    return tuple(sorted(found, key=lambda caveat: order[caveat.level]))


_NOTED: dict[str, tuple[CaveatLevel, str]] = {
    "machine_slept": (
        "doubtful",
        "Keep the machine awake while it measures.",
    ),
    "build_changed": (
        "doubtful",
        "What the gateway had not loaded yet comes from the new files: figures after it may be of "
        "two builds.",
    ),
    "worktree_gone": (
        "doubtful",
        "What the gateway had not loaded yet can't be loaded any more: failures after it may be "
        "of that.",
    ),
    "shared_database": (
        "doubtful",
        "Each may slow the other, and see what the other writes.",
    ),
    "watcher_lost": (
        "doubtful",
        "Failures after it may be the gateway's.",
    ),
    "watch_halted": (
        "note",
        "Resource figures have a hole there; what was measured stands.",
    ),
    "exposed": (
        "note",
        "Figures are not touched, but somebody else's clean-up may end the gateway.",
    ),
    "disk_low": (
        "note",
        "Results may not fit.",
    ),
    "log_guard": (
        "note",
        "Figures stand; earlier log lines are lost.",
    ),
}
"""Class of an incident that ends nothing → how much it takes from the figures, and why."""


def _incidents(incidents: Iterable[Incident]) -> Iterable[Caveat]:
    for incident in incidents:
        touched = len(incident.touched_trials)
        verb = "counts" if touched == 1 else "count"
        effect = f" {_count(touched, 'trial')} touched by it {verb} nowhere." if touched else ""
        summary = incident.summary.rstrip(". ")
        kept = (
            " What was measured before is kept; `gateway-bench resume` asks only what is missing."
        )
        level, meaning = _NOTED.get(incident.incident_class, ("broken", ""))
        if incident.incident_class == "build_changed" and not incident.detail.get("files"):
            level, meaning = "note", "The built files are what they were."
        says = f" {meaning}" if meaning else ""
        yield Caveat(
            code=incident.incident_class,
            level=level,
            text=f"{summary}.{says}{effect}{kept if level == 'broken' or touched else ''}",
        )


def _incomplete(completeness: Completeness, *, is_day_s: bool) -> Iterable[Caveat]:
    if completeness.in_flight is not None:
        yield _going_on(completeness)
        return
    if completeness.is_complete is not False:
        return
    more = {"budget": " --no-budget", "max_cost": " --max-cost USD"}
    rest = f"resume{more.get(completeness.reason or '', '')}"
    why = _REASONS.get(completeness.reason or "killed", "some trials gave no usable record")
    if completeness.reason == "max_cost" and is_day_s:
        why, rest = "the user's limit per day (`max-cost-per-day`) was reached", "resume"
    yield Caveat(
        code="incomplete",
        level="broken",
        text=f"Only {completeness.done} of {completeness.planned} planned trials were measured: "
        f"{why}. Figures stand on what there is; `gateway-bench {rest}` measures the rest.",
    )


def _going_on(completeness: Completeness) -> Caveat:
    sent = completeness.in_flight or 0
    flights = f"{_count(sent, 'request')} {'is' if sent == 1 else 'are'} in flight"
    return Caveat(
        code="going_on",
        level="broken",
        text=f"This run is still being measured: {completeness.done} of {completeness.planned} "
        f"planned trials are done, {flights if sent else 'no request is in flight'}. Figures stand "
        "on what there is by now; the reports of the whole run are written at its end.",
    )


def _simulated(*, simulated: bool) -> Iterable[Caveat]:
    if simulated:
        yield Caveat(
            code="simulated",
            level="doubtful",
            text="SIMULATED: the answers came from the built-in simulator. The figures show what "
            "the gateway and this tool do; they say nothing about a real model.",
        )


def _untold_outage(run: Circumstances) -> Iterable[Caveat]:
    refused = sum(
        trial.response.error is not None and trial.response.error.code == "request_error"
        for trial in run.trials
    )
    if refused:
        yield Caveat(
            code="request_error",
            level="doubtful",
            text=f"{_count(refused, 'request')} ended as `request_error`: this format can't tell a "
            "gateway that died from a provider that was down.",
        )


def _sampled(run: Circumstances) -> Iterable[Caveat]:
    if run.sampled_of:
        kept = sum(trial.stage is not None for trial in run.trials)
        yield Caveat(
            code="sampled",
            level="note",
            text=f"Figures of load stages stand on all {run.sampled_of:,} trials; the other tables "
            f"and the list of trials on an even sample of {kept:,}. The journal has each.",
        )


def _connection(summary: Summary) -> Iterable[Caveat]:
    names = {
        "cold": "on cold connections only, so they include connecting",
        "promptCached": "with prompts the provider had cached, so time to first token is flattered",
    }
    for kind, words in names.items():
        which = [t.target_id for t in summary.targets if t.performance.headline == kind]
        if which:
            yield Caveat(
                code=f"headline_{kind}",
                level="doubtful",
                text=f"The speed of {', '.join(which)} was measured {words}.",
            )


def _held_back(summary: Summary) -> Iterable[Caveat]:
    for target in summary.targets:
        verdicts = headline_block(target.performance).held_back
        if verdicts is not None and 2 * verdicts.hits > verdicts.of:
            yield Caveat(
                code="held_back",
                level="note",
                text=f"{target.target_id} does not stream: {verdicts.hits} of "
                f"{_count(verdicts.of, 'answer')} came in one or two pieces. Something on the way "
                "buffers them, so the first token is as late as the last, and tokens per second "
                "say nothing.",
            )


def _overlap(config: RunConfig) -> Iterable[Caveat]:
    if config.overlap:
        yield Caveat(
            code="overlap",
            level="doubtful",
            text="Performance trials ran side by side with others (`--overlap`): they may have "
            "slowed each other.",
        )


def _record(completeness: Completeness, *, is_recorded_plan: bool) -> Iterable[Caveat]:
    if completeness.damaged_lines:
        yield Caveat(
            code="damaged_journal",
            level="note",
            text=f"{_count(completeness.damaged_lines, 'line')} of the journal could not be read "
            "(a last line is cut when the process dies while writing).",
        )
    if completeness.resumed:
        yield Caveat(
            code="resumed",
            level="note",
            text=f"The run was resumed {_count(completeness.resumed, 'time')}: its trials were not "
            "measured in one go.",
        )
    if not is_recorded_plan:
        yield Caveat(
            code="version_2",
            level="note",
            text="This document was written by the older system: it does not say what was planned, "
            "which connections were warm, or what the client's own lag was.",
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
