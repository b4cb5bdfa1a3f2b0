"""From what the warden saw to an ``Outcome``. Pure."""

from collections.abc import Mapping
from typing import Any

from bench.sandbox.program import End, Language, Limits, Outcome

_NANO = 1_000_000_000
_KILLED: Mapping[str, End] = {
    "wall": "wall_limit",
    "output": "output_limit",
    "processes": "process_limit",
    "memory": "memory_limit",
    "files": "file_limit",
}
_OUT_OF_MEMORY: Mapping[Language, bytes] = {
    "python": b"\nMemoryError",
    "javascript": b"heap out of memory",
}
"""What an interpreter says of itself when its own limit stopped it. A program can say so too, and
only loses by it."""
_SIGNALLED = 0x7F


def outcome(
    facts: Mapping[str, Any], language: Language, limits: Limits, names: Mapping[int, str]
) -> Outcome:
    """Return what happened.

    Args:
        facts: The warden's result.
        language: Whose words tell that memory was used up.
        limits: What was asked.
        names: Signal number → name.
    """
    if "refused" in facts:
        return refused(str(facts["refused"]), setup_ns=facts.get("whole_ns", 0))
    status: int | None = facts.get("status")
    number = None if status is None else status & _SIGNALLED
    signal = names.get(number, f"signal {number}") if number else None
    return Outcome(
        end=_end(facts, language, limits, signal),
        exit_code=None if status is None or number else status >> 8,
        signal=signal,
        stdout=facts["out"],
        stderr=facts["err"],
        output_cut=facts["cut"],
        duration_ns=facts["duration_ns"],
        files=facts["files"],
        setup_ns=facts["whole_ns"] - facts["duration_ns"],
    )


def refused(why: str, *, setup_ns: int = 0) -> Outcome:
    """Return the outcome of a program that was never run."""
    return Outcome(
        end="refused",
        exit_code=None,
        signal=None,
        stdout=b"",
        stderr=why.encode(),
        output_cut=False,
        duration_ns=0,
        setup_ns=setup_ns,
    )


def _end(facts: Mapping[str, Any], language: Language, limits: Limits, signal: str | None) -> End:
    """Return the most telling end: what was used up before what came of it."""
    used_up_cpu = signal == "SIGKILL" and facts["cpu_ns"] >= limits.cpu_s * _NANO
    ends: tuple[tuple[bool, End], ...] = (
        (facts["memory_kills"] > 0 or _says_out_of_memory(facts, language), "memory_limit"),
        (facts["refused_processes"] > 0, "process_limit"),
        (facts["killed"] in _KILLED, _KILLED.get(facts["killed"], "signalled")),
        (facts["cut"], "output_limit"),
        (signal == "SIGXCPU" or used_up_cpu, "cpu_limit"),
        (signal == "SIGXFSZ" or facts["full"], "file_limit"),
        (signal is not None or facts["killed"] is not None, "signalled"),
    )
    return next((end for applies, end in ends if applies), "exited")


def _says_out_of_memory(facts: Mapping[str, Any], language: Language) -> bool:
    is_bad_end = bool(facts.get("status"))
    return is_bad_end and _OUT_OF_MEMORY[language] in b"\n" + facts["err"]
