"""What answers prove or leave open about who gave them, for a reader of the figures."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bench.dialects import same_model
from bench.model.document import Caveat
from bench.model.target import Target
from bench.model.trial import Trial
from bench.summary.selection import is_counted

_SHOWN = 3
"""Trials or names that a sentence gives as examples."""
_WHAT = {
    "pinViolated": "another provider or model answered",
    "fallback": "the gateway fell back or tried again",
    "cacheHit": "the gateway answered from its response cache",
}


def proof_caveats(trials: Sequence[Trial], targets: Sequence[Target]) -> Iterable[Caveat]:
    """Return what was not answered by the pinned target, and what answers say that can't be."""
    measured = [trial for trial in trials if is_counted(trial)]
    yield from _violations(measured)
    yield from _other_names(measured, targets)
    yield from _impossible(measured)


def _violations(trials: Sequence[Trial]) -> Iterable[Caveat]:
    found = [(trial, why) for trial in trials if (why := trial.violation) is not None]
    if not found:
        return
    told = [
        f"{what} in {_count(len(those), 'trial')}{_by_whom(reason, those)}"
        for reason, what in _WHAT.items()
        if (those := [trial for trial, why in found if why == reason])
    ]
    yield Caveat(
        code="not_pinned",
        level="doubtful",
        text=f"Not only the pinned target was measured: {'; '.join(told)}. These trials are left "
        f"out of timings and scores, and marked in the JSON and the CSV: "
        f"{_some([trial.id for trial, _ in found])}.",
    )


def _by_whom(reason: str, trials: Sequence[Trial]) -> str:
    """Return who answered instead, or that nobody said so."""
    if reason == "cacheHit":
        unsaid = sum(trial.response.replay_of is not None for trial in trials)
        return f" ({unsaid} of them without saying so: an earlier answer came again)" * bool(unsaid)
    names = Counter(_served(trial) for trial in trials)
    names.pop("", None)
    return f" (by {_some([f'`{name}`' for name, _ in names.most_common()])})" if names else ""


def _served(trial: Trial) -> str:
    response = trial.response
    provider = ":".join(part for part in (response.served_provider, response.served_region) if part)
    return " ".join(part for part in (provider, response.served_model) if part)


def _other_names(trials: Sequence[Trial], targets: Sequence[Target]) -> Iterable[Caveat]:
    """Tell of answers that call their model something else, where no claim says who served it.

    It may be an alias or a deployment's name, so these answers stay in the figures.
    """
    by_id = {target.id: target for target in targets}
    said = Counter(
        (trial.target_id, name)
        for trial in trials
        if (name := trial.response.response_model)
        and trial.response.served_model is None
        and trial.response.error is None
    )
    names: dict[str, Counter[str]] = {}
    for (target_id, name), times in said.items():
        target = by_id.get(target_id)
        if target is not None and not _is_its_name(target, name):
            names.setdefault(target_id, Counter())[name] = times
    for target_id, called in names.items():
        listed = _some([f"`{name}` ({_count(n, 'time')})" for name, n in called.most_common()])
        yield Caveat(
            code="answers_name_another_model",
            level="note",
            text=f"{target_id}: its answers name another model: {listed}. That may be an alias of "
            "the one asked for, or not: nothing else proves which model answered.",
        )


def _is_its_name(target: Target, said: str) -> bool:
    names = (target.model, target.model_id, target.metadata.upstream_model)
    # A local server names the file it has loaded.
    is_file = said.startswith(("/", "./")) or said.lower().endswith((".gguf", ".bin"))
    return is_file or any(same_model(name, said) for name in names if name)


def _impossible(trials: Sequence[Trial]) -> Iterable[Caveat]:
    overhead = [trial.id for trial in trials if _claims_more_than_all(trial)]
    cached = [trial.id for trial in trials if _caches_more_than_sent(trial)]
    repeated = [f"`{request_id}`" for request_id in _given_twice(trials)]
    parts: Mapping[str, list[str]] = {
        "a gateway overhead longer than the whole request": overhead,
        "more cached prompt tokens than the prompt has": cached,
        "the request id of another answer": repeated,
    }
    told = [f"{what} ({len(where)}: {_some(where)})" for what, where in parts.items() if where]
    if told:
        yield Caveat(
            code="impossible_claims",
            level="note",
            text=f"The gateway claims what can't be: {'; '.join(told)}. Don't rely on what else it "
            "says about its answers.",
        )


def _given_twice(trials: Sequence[Trial]) -> list[str]:
    """Return request ids that stand on different answers."""
    answers: dict[str, set[str]] = {}
    for trial in trials:
        request_id, answer = trial.response.request_id, trial.response.generation_id
        if request_id and answer:
            answers.setdefault(request_id, set()).add(answer)
    return [request_id for request_id, different in answers.items() if len(different) > 1]


def _claims_more_than_all(trial: Trial) -> bool:
    claimed, whole = trial.response.gateway_overhead_ms, trial.response.timing.total_ms
    return claimed is not None and whole is not None and claimed > whole


def _caches_more_than_sent(trial: Trial) -> bool:
    usage = trial.response.usage
    if usage is None or usage.cached_prompt_tokens is None or usage.prompt_tokens is None:
        return False
    return usage.cached_prompt_tokens > usage.prompt_tokens


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
