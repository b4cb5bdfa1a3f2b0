"""How gates came out, for people and for programs: what failed first."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from bench.model.document import Document
from bench.model.gates import GateResult
from bench.report.figures import ABSENT, ms, percent, usd
from bench.report.tables import Cell, Section, Table

_VERDICTS = {"failed": "FAILED", "undecided": "undecided", "passed": "passed"}
_MOST_NAMED = 4


def gate_words(gates: Sequence[GateResult]) -> str:
    """Return what a headline says of gates: `Gate failed: ttft.p99=500ms.`; empty without any."""
    named = {
        verdict: list(dict.fromkeys(one.gate for one in gates if one.verdict == verdict))
        for verdict in _VERDICTS
    }
    told = [
        f"gate{'s' if len(names) > 1 else ''} {verdict}: {_some(names)}"
        for verdict, names in named.items()
        if names
    ]
    said = "; ".join(told)
    return f"{said[0].upper()}{said[1:]}. " if said else ""


def gate_lines(document: Document) -> Iterator[str]:
    """Yield a line for each gate, for a terminal; failed ones first."""
    several = len(document.summary.targets) > 1
    for gate in _in_order(document.summary.gates):
        yield f"Gate {gate.gate}: {_VERDICTS[gate.verdict]}, {_told(gate, several=several)}"


def gate_ending(document: Document) -> Literal["gate_failed", "gate_undecided"] | None:
    """Return what gates make of a run that ended well; ``None`` = nothing."""
    verdicts = {gate.verdict for gate in document.summary.gates}
    if "failed" in verdicts:
        return "gate_failed"
    is_told = "undecided" in verdicts and document.config.is_strict
    return "gate_undecided" if is_told else None


def undecided_note(gates: Sequence[GateResult]) -> str:
    """Return why gates told nothing, in one sentence; empty where each of them did."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for gate in gates:
        if gate.verdict == "undecided":
            by_reason[_reason(gate)].append(f"`{gate.gate}`")
    if not by_reason:
        return ""
    told = [
        f"{_some(list(dict.fromkeys(names)))} ({reason})"
        for reason, names in list(by_reason.items())[:_MOST_NAMED]
    ]
    more = f" and {len(by_reason) - len(told)} more reasons" if len(by_reason) > len(told) else ""
    return f"undecided: {'; '.join(told)}{more}. `--strict` makes that exit code 8"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def gate_detail(document: Document) -> dict[str, Any]:
    """Return what ``--json`` says of gates; empty without any."""
    listed = [
        {
            "gate": gate.gate,
            "target": gate.target_id,
            "load": gate.label or None,
            "verdict": gate.verdict,
            "value": gate.value,
            "interval": gate.interval,
            "bound": gate.bound,
            "unit": gate.unit,
            "count": gate.count,
            "counted": gate.counted,
            "countToDecide": gate.count_to_decide,
            "why": gate.why or None,
        }
        for gate in _in_order(document.summary.gates)
    ]
    return {"gates": listed} if listed else {}


def gates(document: Document) -> Section:
    """Return the section of gates."""
    return Section(
        id="gates",
        title="Gates",
        note="A gate fails when the whole 95% interval lies beyond its limit and passes when all of "
        "it lies on this side; else it is undecided. Of several loads the worst one decides, of a "
        "rate of answers the best one.",
        table=Table(
            columns=("Gate", "Verdict", "Target", "Load", "Measured", "Stands on"),
            rows=tuple(_row(gate) for gate in _in_order(document.summary.gates)),
            words=4,
        ),
    )


def _row(gate: GateResult) -> tuple[Cell, ...]:
    needed = _needed(gate)
    return (
        Cell(text=gate.gate),
        Cell(text=_VERDICTS[gate.verdict], detail=gate.why),
        Cell(text=gate.target_id or "b against a"),
        Cell(text=gate.label or "the whole run"),
        Cell(text=amount(gate, gate.value), detail=_range(gate)),
        Cell(text=f"{gate.count:,} {gate.counted}", detail=needed),
    )


def _in_order(results: Sequence[GateResult]) -> list[GateResult]:
    order = list(_VERDICTS)
    return sorted(results, key=lambda gate: order.index(gate.verdict))


def _told(gate: GateResult, *, several: bool) -> str:
    between = _range(gate)
    place = [gate.target_id if several and gate.target_id else "", gate.label]
    where = ", ".join(part for part in place if part)
    parts = [
        amount(gate, gate.value) if gate.value is not None else "",
        f"[{between}]" if between else "",
        f"({where})" if where else "",
    ]
    measured = " ".join(part for part in parts if part)
    reason = _reason(gate) if gate.verdict == "undecided" else ""
    return "; ".join(part for part in (measured, reason) if part)


def _reason(gate: GateResult) -> str:
    needed = _needed(gate)
    return f"{gate.why}: {needed}" if needed else gate.why


def _needed(gate: GateResult) -> str:
    needed = gate.count_to_decide
    if needed is None or gate.interval is None:  # then the reason says what an interval takes
        return ""
    how = f": `--pairs {needed}`" if gate.counted == "pairs" else ""
    return f"about {needed:,} {gate.counted} would decide{how}"


def amount(gate: GateResult, value: float | None) -> str:
    """Return a figure in the unit of its gate; of a difference with its sign."""
    return ABSENT if value is None else _with_unit(gate, value, _unit(gate))


def _unit(gate: GateResult) -> str:
    """Return what stands behind a number; empty for what has its unit within."""
    if gate.unit == "%" and not gate.is_difference:
        return ""
    return {"usd": "", "%": "%", "/s": "/s"}.get(gate.unit, f" {gate.unit}")


def _with_unit(gate: GateResult, value: float, unit: str) -> str:
    if gate.is_difference:
        return f"{100 * value if gate.unit in {'%', 'pt'} else value:+.2f}{unit}"
    if gate.unit == "usd":
        return usd(value)
    return percent(value) if gate.unit == "%" else f"{ms(value)}{unit}"


def _range(gate: GateResult) -> str:
    """Return the interval, its unit once; empty where there is none or it has no width."""
    if gate.interval is None or gate.interval[0] == gate.interval[1]:
        return ""
    return ", ".join(_with_unit(gate, bound, "") for bound in gate.interval)
