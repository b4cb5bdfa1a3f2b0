"""``instruction_cipher``: five exact changes to a word, one after another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.cases.problem import Problem, problem_case

WORD = "TAMBOURINES"
VOWELS = "AEIOU"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One instruction, and what it does."""

    text: str
    apply: Callable[[str], str]


def _next_vowel(letter: str) -> str:
    return VOWELS[(VOWELS.index(letter) + 1) % len(VOWELS)] if letter in VOWELS else letter


CHANGES = (
    Change(text="Write it backwards.", apply=lambda word: word[::-1]),
    Change(
        text="Replace each vowel by the next one in the circle A, E, I, O, U, A.",
        apply=lambda word: "".join(map(_next_vowel, word)),
    ),
    Change(
        text="Swap the first and the last letter.",
        apply=lambda word: word[-1] + word[1:-1] + word[0],
    ),
    Change(
        text="Remove the third, the sixth and the ninth letter, counted before any is removed.",
        apply=lambda word: "".join(
            letter for place, letter in enumerate(word, start=1) if place not in {3, 6, 9}
        ),
    ),
    Change(
        text="Put a hyphen behind the fourth letter of what is left.",
        apply=lambda word: f"{word[:4]}-{word[4:]}",
    ),
)


def changed(word: str, changes: Sequence[Change]) -> str:
    """Return ``word`` after all ``changes`` in order."""
    for change in changes:
        word = change.apply(word)
    return word


INSTRUCTION_CIPHER = problem_case(
    Problem(
        id="instruction_cipher",
        name="Instruction cipher",
        category="instruction following",
        dimension="exact procedure",
        difficulty="medium",
        description="applies five exact changes to a word in order",
        question="\n".join(
            [
                f"Take the word {WORD} and change it in this order:",
                *(f"{place}. {change.text}" for place, change in enumerate(CHANGES, start=1)),
                "\nWhat is the result, in capital letters?",
            ]
        ),
        form="the result",
        solve=lambda: changed(WORD, CHANGES),
        # The swap forgotten.
        mistake=lambda: changed(WORD, (*CHANGES[:2], *CHANGES[3:])),
    )
)

CASES = (INSTRUCTION_CIPHER,)
