"""Gateways and what looks like them as a table for people and as objects for programs. Pure."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

from orchestrator.strays import Stray
from orchestrator.verdicts import Verdict, age_text

_GONE = " (gone)"
_GAP = "  "
_WHY_INDENT = "  "
_NARROWEST = 60
_GIVES_WAY = ("WORKTREE", "BRANCH", "HELD BY")
_LEAST = 8
_HEADERS = ("PID", "VERDICT", "PORT", "AGE", "MEMORY", "BRANCH", "WORKTREE", "HELD BY")
_RIGHT = frozenset({"PID", "PORT", "AGE", "MEMORY"})
_KIB = 1024
_ROW_BYTES = 6_500
"""What the rows of ``--json`` may take, so that the whole object stays under 8 KB."""

HIDDEN_BY_DEFAULT = frozenset({Verdict.OTHER_USER, Verdict.CONTAINER, Verdict.ELSEWHERE})
"""Nothing that this user could do anything about from here."""


def table(found: Sequence[Stray], *, width: int, home: str) -> str:
    """Return one line of facts and a line that says why, for each.

    Args:
        found: In the order in which they are shown.
        width: Of the terminal, in characters.
        home: The home folder, shown as ``~``.
    """
    width = max(width, _NARROWEST)
    rows = [_cells(one, home) for one in found]
    columns = _fitted(rows, width)
    shown = [_line(_HEADERS, columns)]
    for one, row in zip(found, rows, strict=True):
        shown.append(_line(row, columns))
        shown += wrap(
            _why(one),
            width,
            initial_indent=_WHY_INDENT,
            subsequent_indent=_WHY_INDENT,
            break_on_hyphens=False,
        )
    return "\n".join(shown)


def _cells(one: Stray, home: str) -> tuple[str, ...]:
    tree = one.worktree or "-"
    if home and (tree == home or tree.startswith(f"{home}/")):
        tree = f"~{tree[len(home) :]}"
    return (
        "-" if one.pid is None else str(one.pid),
        one.verdict.value,
        ",".join(str(port) for port in one.ports[:2]) + ("…" if len(one.ports) > 2 else "")  # noqa: PLR2004  # two fit
        or "-",
        age_text(one.age_s),
        memory_text(one.memory_bytes),
        one.branch or "-",
        tree + (_GONE if one.is_worktree_gone else ""),
        "-" if one.held_by is None else one.held_by.short,
    )


def _fitted(rows: Iterable[Sequence[str]], width: int) -> dict[str, int]:
    """Return the width of each column; where room is short, the widest that may gives way."""
    columns = {column[0]: max(map(len, column)) for column in zip(_HEADERS, *rows, strict=True)}
    over = sum(columns.values()) + len(_GAP) * (len(columns) - 1) - width
    while over > 0:
        widest = max(_GIVES_WAY, key=lambda name: columns[name])
        if columns[widest] <= _LEAST:
            break
        columns[widest] -= 1
        over -= 1
    return columns


def _line(cells: Sequence[str], columns: dict[str, int]) -> str:
    shown = []
    for (name, room), cell in zip(columns.items(), cells, strict=True):
        fitted = _shortened(cell, room, keep_end=name == "WORKTREE")
        shown.append(fitted.rjust(room) if name in _RIGHT else fitted.ljust(room))
    return _GAP.join(shown).rstrip()


def _shortened(text: str, room: int, *, keep_end: bool) -> str:
    if len(text) <= room:
        return text
    return f"…{text[len(text) - room + 1 :]}" if keep_end else f"{text[: room - 1]}…"


def _why(one: Stray) -> str:
    name = f"`{one.name}`: " if one.name else ""
    by = "" if one.held_by is None else f" by {one.held_by.text}"
    way = ""
    if one.verdict is Verdict.SUSPECT and one.identity is not None:
        start = one.identity.start_ticks
        way = f"; `gateway-bench clean --pid {one.pid} --start {start} --yes` would end it"
    return f"{name}{one.reason}{by}{way}"


def memory_text(size: int | None) -> str:
    """Return resident memory in MiB or GiB."""
    if size is None:
        return "-"
    mib = size / _KIB**2
    return f"{mib:.0f} MiB" if mib < _KIB else f"{mib / _KIB:.1f} GiB"


def counts_text(found: Iterable[Stray]) -> str:
    """Return how many there are of each verdict: ``2 idle, 1 suspect``."""
    counted = Counter(one.verdict for one in found)
    return ", ".join(f"{counted[one]} {one.value}" for one in Verdict if counted[one])


def stray_facts(one: Stray) -> dict[str, Any]:
    """Return one of them for ``--json``; what is not known is left out."""
    facts = {
        "verdict": one.verdict.value,
        "why": one.reason,
        "pid": one.pid,
        "start": None if one.identity is None else one.identity.start_ticks,
        "name": one.name,
        "runId": one.run_id,
        "worktree": one.worktree,
        "worktreeGone": one.is_worktree_gone or None,
        "branch": one.branch,
        "ports": list(one.ports) or None,
        "ageS": None if one.age_s is None else round(one.age_s),
        "idleS": None if one.idle_s is None else round(one.idle_s),
        "memoryBytes": one.memory_bytes,
        "heldBy": None if one.held_by is None else one.held_by.text,
        "processes": len(one.processes) if len(one.processes) > 1 else None,
    }
    return {key: value for key, value in facts.items() if value is not None}


def bounded(rows: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Return as many of the first rows as the object has room for, and how many were left off."""
    kept: list[dict[str, Any]] = []
    room = _ROW_BYTES
    for row in rows:
        room -= len(json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode()) + 1
        if room < 0:
            break
        kept.append(row)
    return kept, len(rows) - len(kept)
