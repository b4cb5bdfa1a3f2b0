"""Whether two arms did the same work: what differs besides the way there. Pure.

What is seen in answers: who answered, how long prompt and answer were, whether a cache helped.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bench.dialects import same_model
from bench.model.paired import Arm, Confound
from bench.model.trial import Trial, Usage
from bench.paired.differences import median

NOT_COMPARABLE = "not comparable"
_TOLERANCE = 0.05
"""Token counts this close are the same work: chat templates add a few tokens."""
_FEW_TOKENS = 8
_TOO_EARLY = 0.5
"""Part of the fastest first text: chance and a busy machine make no answer that much faster."""
_ALL = ("*",)
_AFTER_FIRST = ("itl", "total", "tpot", "speed")


@dataclass(slots=True, kw_only=True)
class Work:
    """What the answered trials of one arm say of the work done."""

    models: Counter[str] = field(default_factory=Counter)
    prompt: list[float] = field(default_factory=list)
    completion: list[float] = field(default_factory=list)
    cached: int = 0
    from_cache: int = 0
    fell_back: int = 0
    answers: int = 0
    first: list[float] = field(default_factory=list)
    """Milliseconds to the first visible text."""
    total: list[float] = field(default_factory=list)
    """Milliseconds to the last byte."""


def work_of(trials: Iterable[Trial]) -> Work:
    """Return what the measured, answered trials of one arm did."""
    work = Work()
    for trial in trials:
        response = trial.response
        if trial.warmup or response.error is not None or trial.invalidated is not None:
            continue
        work.answers += 1
        if response.timing.first_content_ms is not None:
            work.first.append(response.timing.first_content_ms)
        if response.timing.total_ms is not None:
            work.total.append(response.timing.total_ms)
        name = response.served_model or response.response_model
        if name:
            work.models[name] += 1
        usage = response.usage or Usage()
        if usage.prompt_tokens is not None:
            work.prompt.append(float(usage.prompt_tokens))
        if usage.completion_tokens is not None:
            work.completion.append(float(usage.completion_tokens))
        work.cached += bool(usage.cached_prompt_tokens)
        work.from_cache += response.cache_hit is True or response.replay_of is not None
        work.fell_back += response.fallback is True
    return work


def setting_confounds(
    base: Arm, changed: Arm, *, is_simulated: bool = False
) -> tuple[Confound, ...]:
    """Return what differs by the settings alone.

    Args:
        base: What is held against.
        changed: What is asked about.
        is_simulated: The upstream is the simulator, which has no accounts.
    """
    if is_simulated or base.api_key_env == changed.api_key_env:
        return ()
    names = [f"`{arm.api_key_env}`" if arm.api_key_env else "none" for arm in (base, changed)]
    text = (
        f"the arms send other keys ({base.label}: {names[0]}, {changed.label}: {names[1]}): the "
        "provider may treat them as other customers"
    )
    return (Confound(code="other_key", text=text),)


def seen_confounds(base: Arm, changed: Arm, seen: tuple[Work, Work]) -> tuple[Confound, ...]:
    """Return what differs in the answers.

    Args:
        base: What is held against.
        changed: What is asked about.
        seen: Work of the base arm and of the changed one.
    """
    return tuple(_seen(base, changed, *seen))


def spoiled(confounds: Iterable[Confound], metric: str) -> str:
    """Return why a metric is not comparable; empty = it is."""
    name = metric.partition(".")[0]
    for confound in confounds:
        if "*" in confound.spoils or name in confound.spoils:
            return f"{NOT_COMPARABLE}: {confound.text}"
    return ""


def _seen(base: Arm, changed: Arm, one: Work, other: Work) -> Iterator[Confound]:
    yield from _models(base, changed, one, other)
    yield from _lengths(base, changed, (one.prompt, other.prompt), "prompt", _ALL)
    yield from _lengths(base, changed, (one.completion, other.completion), "answer", _AFTER_FIRST)
    for arm, work in ((base, one), (changed, other)):
        if work.from_cache:
            text = f"{arm.label} answered {work.from_cache} of {work.answers} requests from a cache"
            yield Confound(code="response_cache", text=text, spoils=_ALL)
        if work.fell_back:
            text = f"{arm.label} sent {work.fell_back} of {work.answers} requests elsewhere"
            yield Confound(code="fallback", text=text, spoils=_ALL)
    yield from _too_early(base, changed, one, other)
    if _share(one.cached, one.answers) != _share(other.cached, other.answers):
        text = (
            f"the provider read prompts from its cache for {one.cached} of {one.answers} requests "
            f"of {base.label} and {other.cached} of {other.answers} of {changed.label}"
        )
        yield Confound(code="prompt_cache", text=text, spoils=_ALL)


def _models(base: Arm, changed: Arm, one: Work, other: Work) -> Iterator[Confound]:
    if not one.models or not other.models:
        return
    strangers = [
        name
        for name in other.models
        if not any(same_model(known, name) or same_model(name, known) for known in one.models)
    ]
    if strangers:
        text = (
            f"{changed.label} answered as `{strangers[0]}`, "
            f"{base.label} as `{one.models.most_common(1)[0][0]}`"
        )
        yield Confound(code="other_model", text=text, spoils=_ALL)


def _too_early(base: Arm, changed: Arm, one: Work, other: Work) -> Iterator[Confound]:
    """Yield that answers were whole before their upstream can have begun to give them."""
    if not one.first or other.from_cache:
        return
    fastest = min(one.first)
    early = sum(total < _TOO_EARLY * fastest for total in other.total)
    if early:
        text = (
            f"{early} of {other.answers} answers of {changed.label} were whole in less than half of "
            f"the {fastest:.3g} ms that {base.label} took to its fastest first text: they came "
            "from a cache that doesn't say so, or from another upstream"
        )
        yield Confound(code="too_early", text=text, spoils=_ALL)


def _lengths(
    base: Arm,
    changed: Arm,
    counts: tuple[Sequence[float], Sequence[float]],
    what: str,
    spoils: tuple[str, ...],
) -> Iterator[Confound]:
    one, other = median(counts[0]), median(counts[1])
    if one is None or other is None:
        return
    if abs(other - one) <= max(_FEW_TOKENS, _TOLERANCE * one):
        return
    text = f"the median {what} had {one:g} tokens at {base.label} and {other:g} at {changed.label}"
    yield Confound(code=f"other_{what}_tokens", text=text, spoils=spoils)


def _share(part: int, whole: int) -> float:
    """Return a share in tenths: a few cached prompts more or less are chance."""
    return round(10 * part / whole) if whole else 0.0
