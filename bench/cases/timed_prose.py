"""The timed cases that stream prose: one prompt, cut at different lengths, at different loads."""

from bench.cases.text_hash import text_hash
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.record import Value
from bench.seeds import nonce

# The nonce comes first: a provider's prompt cache matches from the beginning, so nothing is shared.
_PROMPT = """\
{nonce}

The code above is a label; ignore it. Describe, in one continuous piece of prose, a day in an \
imagined harbour town from before sunrise until after midnight: the people, their work, the \
weather, what is said and what is heard. Write at least 1,500 words. Begin with the description \
at once; use no headings, no lists and no closing remarks."""


class Timed(Value, frozen=True, kw_only=True):
    """What differs between the timed cases."""

    id: str
    name: str
    dimension: str
    max_tokens: int
    runs: int
    description: str
    warmup_runs: int = 0
    concurrency: int = 1
    is_load_point: bool = False
    reasoning_effort: str | None = None


def timed_case(timed: Timed) -> Case:
    """Return the case: the same prose for every one, behind a nonce. Nothing is judged."""

    def build(seed: int) -> Instance:
        prompt = _PROMPT.format(nonce=nonce(seed, label=timed.id))
        return timed_instance(
            prompt, max_tokens=timed.max_tokens, reasoning_effort=timed.reasoning_effort
        )

    return Case(
        info=CaseInfo(
            id=timed.id,
            name=timed.name,
            kind="performance",
            category="performance",
            dimension=timed.dimension,
            difficulty="easy",
            runs=timed.runs,
            warmup_runs=timed.warmup_runs,
            concurrency=timed.concurrency,
            is_load_point=timed.is_load_point,
            text_hash=text_hash(build),
        ),
        build=build,
        description=timed.description,
    )


def timed_instance(
    prompt: str, *, max_tokens: int, reasoning_effort: str | None = None
) -> Instance:
    """Return an instance that is timed and not judged."""
    return Instance(
        request=ChatRequest(
            messages=(Message(role="user", content=prompt),),
            max_tokens=max_tokens,
            temperature=0.0,
            reasoning_effort=reasoning_effort,
        ),
        expected=None,
        evaluate=None,
    )
