"""``fixed_output_stream``: a long answer cut at a set length, to time how it streams."""

from bench.cases.text_hash import text_hash
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.seeds import nonce

_ID = "fixed_output_stream"

# The nonce comes first: a provider's prompt cache matches from the beginning, so nothing is shared.
_PROMPT = """\
{nonce}

The code above is a label; ignore it. Describe, in one continuous piece of prose, a day in an \
imagined harbour town from before sunrise until after midnight: the people, their work, the \
weather, what is said and what is heard. Write at least 1,500 words. Begin with the description \
at once; use no headings, no lists and no closing remarks."""


def build(seed: int) -> Instance:
    """Return the instance of ``seed``: the same task behind another nonce. Nothing is judged."""
    prompt = _PROMPT.format(nonce=nonce(seed, label=_ID))
    return Instance(
        request=ChatRequest(
            messages=(Message(role="user", content=prompt),),
            max_tokens=512,
            temperature=0.0,
            reasoning_effort="none",
        ),
        expected=None,
        evaluate=None,
    )


FIXED_OUTPUT_STREAM = Case(
    info=CaseInfo(
        id=_ID,
        name="Fixed-length stream",
        kind="performance",
        category="performance",
        dimension="streaming",
        difficulty="easy",
        runs=5,
        warmup_runs=1,
        text_hash=text_hash(build),
    ),
    build=build,
    description="streams 512 tokens of prose: time to first token, gaps, speed, buffering",
)
