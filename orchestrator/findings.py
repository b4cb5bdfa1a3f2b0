"""What can be proven on this machine and what not, each with its consequence. Pure."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["yes", "no", "unknown"]

MOST_LINES = 39
"""With the sentence after it: 40."""
_WIDTH = 80
_NAME = 14
_MARKS = {"yes": "yes", "no": "NO", "unknown": "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the examination."""

    id: str
    """For programs: one word."""
    what: str
    """What was asked, in a few words."""
    verdict: Verdict
    seen: str
    """What was found."""
    consequence: str = ""
    """What it means where the verdict is not yes."""
    remedy: str = ""
    is_essential: bool = False
    """Without it a run can't be trusted: the examination fails."""


def failed(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return what matters and can't be proven."""
    return tuple(one for one in findings if one.is_essential and one.verdict != "yes")


def finding_lines(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the examination for people: at most 39 lines of 80 columns.

    Where that is not enough, advice about what does not matter is left out first.
    """
    lines = _lines(findings, with_advice=lambda one: one.verdict != "yes")
    if len(lines) > MOST_LINES:
        lines = _lines(findings, with_advice=lambda one: one in failed(findings))
    if len(lines) > MOST_LINES:
        left = len(lines) - MOST_LINES + 1
        lines = [*lines[: MOST_LINES - 1], f"… {left} more lines: `--json` has all of it"]
    return tuple(lines)


def _lines(findings: Sequence[Finding], *, with_advice: Any) -> list[str]:  # noqa: ANN401  a predicate
    lines: list[str] = []
    for one in findings:
        head = f"{_MARKS[one.verdict]:<4}{one.what:<{_NAME}} "
        lines += _wrapped(head, one.seen, 2)
        if with_advice(one):
            advice = "; ".join(part for part in (one.consequence, one.remedy) if part)
            lines += _wrapped(" " * len(head) + "→ ", advice, 3)
    return lines


def _wrapped(head: str, text: str, most: int) -> list[str]:
    """Return a paragraph that hangs below its head, cut to a number of lines."""
    return textwrap.wrap(
        text,
        width=_WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        max_lines=most,
        placeholder=" …",
        break_on_hyphens=False,
    ) or [head.rstrip()]


def finding_facts(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return the examination for ``--json``."""
    return [
        {
            "id": one.id,
            "what": one.what,
            "verdict": one.verdict,
            "seen": one.seen,
            "consequence": one.consequence or None,
            "remedy": one.remedy or None,
            "essential": one.is_essential,
        }
        for one in findings
    ]
