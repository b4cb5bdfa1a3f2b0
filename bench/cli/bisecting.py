"""What a comparison tells `git bisect run`: 0 good, 1 bad, 125 for everything else."""

from dataclasses import replace

from bench.cli.console import Console
from bench.cli.outcome import Outcome, Status

GOOD, BAD, CANT_TELL = 0, 1, 125
_GATE_FAILED = 6


def bisected(outcome: Outcome, console: Console) -> Outcome:
    """Return the outcome with the exit code that `git bisect` understands.

    Bad: a gate failed. Good: there are gates, and each of them passed. An undecided gate, a run that
    was cut and every fault say nothing about the commit.
    """
    if outcome.exit_code == _GATE_FAILED:
        code, word = BAD, "bad: a gate failed"
    elif outcome.exit_code == 0 and _all_passed(outcome):
        code, word = GOOD, "good: every gate passed"
    else:
        code, word = CANT_TELL, f"can't tell: {outcome.reason or 'nothing was decided'}"
    console.say(f"bisect: {word} ({code})")
    detail = {**outcome.detail, "bisect": word, "class": outcome.exit_code}
    return replace(outcome, exit_code=code, status=_status(code), detail=detail)


def _all_passed(outcome: Outcome) -> bool:
    gates = outcome.detail.get("gates") or ()
    return bool(gates) and all(one.get("verdict") == "passed" for one in gates)


def _status(code: int) -> Status:
    return "done" if code == GOOD else "gate_failed" if code == BAD else "undecided"
