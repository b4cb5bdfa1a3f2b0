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
    by_verdict: dict[str, list[str]] = defaultdict(list)
    for one in gates:
        by_verdict[one.verdict].append(one.gate)
    told = []
    for verdict in _VERDICTS:
        names = list(dict.fromkeys(by_verdict.get(verdict, ())))
        if names:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            plural = "s" if len(names) > 1 else ""
            told.append(f"gate{plural} {verdict}: {', '.join(names[:_MOST_NAMED])}{more}")
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
    open_ones = [gate for gate in gates if gate.verdict == "undecided"]
    if not open_ones:
        return ""
    named = [f"`{gate.gate}` ({_reason(gate)})" for gate in open_ones[:_MOST_NAMED]]
    more = len(open_ones) - len(named)
    rest = f" and {more} more" if more else ""
    noun = "gate is" if len(open_ones) == 1 else "gates are"
    return f"{noun} undecided: {', '.join(named)}{rest}; `--strict` makes that exit code 8"


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
    measured = f"{amount(gate, gate.value)}{f' [{between}]' if between else ''}"
    place = [gate.target_id if several and gate.target_id else "", gate.label]
    where = ", ".join(part for part in place if part)
    reason = f"; {_reason(gate)}" if gate.verdict == "undecided" else ""
    return f"{measured}{f' ({where})' if where else ''}{reason}"


def _reason(gate: GateResult) -> str:
    needed = _needed(gate)
    return f"{gate.why}: {needed}" if needed else gate.why


def _needed(gate: GateResult) -> str:
    needed = gate.count_to_decide
    if needed is None:
        return ""
    how = f": `--pairs {needed}`" if gate.counted == "pairs" else ""
    return f"about {needed:,} {gate.counted} would decide{how}"


def amount(gate: GateResult, value: float | None) -> str:
    """Return a figure in the unit of its gate; of a difference with its sign."""
    if value is None:
        return ABSENT
    if gate.is_difference:
        share = {"%": "%", "pt": " pt"}.get(gate.unit)
        return f"{value:+.2f} {gate.unit}" if share is None else f"{100 * value:+.2f}{share}"
    if gate.unit == "usd":
        return usd(value)
    return percent(value) if gate.unit == "%" else f"{ms(value)} {gate.unit}"


def _range(gate: GateResult) -> str:
    if gate.interval is None or gate.interval[0] == gate.interval[1]:
        return ""
    return ", ".join(amount(gate, bound) for bound in gate.interval)
