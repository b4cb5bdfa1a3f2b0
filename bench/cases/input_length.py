"""``input_length_1000|8000|32000``: a short answer to a long text, to time how a prompt is read."""

from functools import cache, partial

from bench.cases.text_hash import text_hash
from bench.cases.timed_prose import timed_instance
from bench.model.case import Case, CaseInfo, Instance
from bench.seeds import SeededStream, nonce

LENGTHS = (1_000, 8_000, 32_000)
"""Words of the text, without the question around it."""
MAX_TOKENS = 64

_PROMPT = """\
{nonce}

The code above is a label; ignore it. Below is the diary of a weather station.

{text}

Describe in one paragraph of about a hundred words what kind of station this is. Begin at once."""

_TIMES = ("At dawn", "Before noon", "At midday", "In the afternoon", "At dusk", "Late at night")
_SIGHTS = (
    "the wind turned to the north and the flag on the mast began to beat",
    "a bank of cloud came over the ridge and stayed until the lamps were lit",
    "the glass fell by two marks and the keeper wrote it down twice",
    "rain drummed on the roof of the shed and ran into the second barrel",
    "fog lay on the water and no ship answered the horn",
    "the sky cleared from the west and the roofs of the village came into view",
    "hail broke a pane of the small greenhouse and the cat hid under the stove",
    "the thermometer by the door and the one in the yard disagreed by three degrees",
)
_ENDINGS = (
    "Nothing else was noted.", "The report went out on time.", "The boat brought no post.",
    "Visibility was good for nine miles.", "The ink froze in its pot.",
    "The second observer agreed.",
)  # fmt: skip


@cache
def diary(words: int) -> str:
    """Return a text of exactly ``words`` words, the same on every machine.

    It does not depend on the seed, so that every run has as many tokens as every other; the nonce
    before it keeps prompt caches out.
    """
    stream = SeededStream(words, label="weather diary")
    told: list[str] = []
    day = 0
    while len(told) < words:
        day += 1
        told += f"Day {day}.".split()
        for time in stream.sample(_TIMES, 3):
            told += f"{time} {stream.pick(_SIGHTS)}. {stream.pick(_ENDINGS)}".split()
    return " ".join(told[:words])


def build(seed: int, *, words: int) -> Instance:
    """Return the instance of ``seed``: the same text behind another nonce. Nothing is judged."""
    label = nonce(seed, label=f"input_length_{words}")
    return timed_instance(_PROMPT.format(nonce=label, text=diary(words)), max_tokens=MAX_TOKENS)


def _case(words: int) -> Case:
    builder = partial(build, words=words)
    return Case(
        info=CaseInfo(
            id=f"input_length_{words}",
            name=f"Input of {words:,} words",
            kind="performance",
            category="performance",
            dimension="input length",
            difficulty="easy",
            runs=3,
            warmup_runs=1,
            text_hash=text_hash(builder),
        ),
        build=builder,
        description=f"answers a text of {words:,} words: how the first token waits for the prompt",
    )


CASES = tuple(map(_case, LENGTHS))
