"""From an answer to a verdict: strict and loose, of each instruction and of the whole prompt."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bench.evaluators.excerpt import MAX_JUDGED_CHARACTERS, excerpt
from bench.external.ifeval.kinds import Kind
from bench.model.trial import Answer, Evaluation

Mode = Literal["strict", "loose"]
MODES: tuple[Mode, ...] = ("strict", "loose")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction of a prompt."""

    kind: Kind
    told: Mapping[str, Any]
    """The kind's arguments, read."""

    def is_followed(self, text: str) -> bool:
        """Return whether ``text`` does what was asked; a text without a character never does."""
        return bool(text.strip()) and self.kind.follows(text, **self.told)


def judge_instructions(
    answer: Answer, *, instructions: Sequence[Instruction], mode: Mode
) -> Evaluation:
    """Judge one answer in both modes; ``mode`` says which one counts.

    Text longer than ``MAX_JUDGED_CHARACTERS`` follows nothing: no instruction asks for as much,
    and what was cut off could not be judged.
    """
    text = answer.content
    is_too_long = len(text) > MAX_JUDGED_CHARACTERS
    strict = [not is_too_long and one.is_followed(text) for one in instructions]
    loose = [
        is_strict or (not is_too_long and any(map(one.is_followed, variants(text))))
        for one, is_strict in zip(instructions, strict, strict=True)
    ]
    counted = strict if mode == "strict" else loose
    missed = [one.kind.id for one, passed in zip(instructions, counted, strict=True) if not passed]
    return Evaluation(
        passed=not missed,
        answer=excerpt(text.strip()) or None,
        expected=None,
        detail=excerpt(_reason(answer, missed, is_too_long=is_too_long)) if missed else None,
        score=0.0 if missed else 1.0,
        metrics={
            "mode": mode,
            "instructionsPassed": sum(counted),
            "instructionsTotal": len(instructions),
            "instructionsStrict": sum(strict),
            "instructionsLoose": sum(loose),
            "promptStrict": all(strict),
            "promptLoose": all(loose),
            "missed": missed,
        },
    )


def variants(text: str) -> Iterator[str]:
    """Yield the eight readings of a loose verdict; the first is the text itself.

    Without its first line, its last line or both (an introduction, a farewell), and each of these
    without asterisks (emphasis).
    """
    lines = text.split("\n")
    kept = (lines[1:], lines[:-1], lines[1:-1])
    readings = (text, *("\n".join(part).strip() for part in kept))
    yield from readings
    for reading in readings:
        yield reading.replace("*", "")


def _reason(answer: Answer, missed: Sequence[str], *, is_too_long: bool) -> str:
    if is_too_long:
        return f"{len(answer.content)} characters, more than the {MAX_JUDGED_CHARACTERS} that are judged"
    cut = "; the answer was cut at its token limit" if answer.finish_reason == "length" else ""
    return f"not followed: {', '.join(missed)}{cut}"
