"""The gates of a run, held against what was measured."""

from collections.abc import Iterable

import msgspec

from bench.gates import GateEvidence, run_gates
from bench.gates.run import CLIENT_BOUND, Doubt, by_target
from bench.ledger import Ledger
from bench.load.gates import read_gate
from bench.model.document import Caveat, Completeness
from bench.model.gates import GateResult
from bench.model.summary import Summary
from bench.summary.client_rules import EVERY, TIMES
from bench.summary.selection import counted, is_kind

_SPOILING = {
    "client_bound": Doubt(why=CLIENT_BOUND, spoils=frozenset({*TIMES, "slo", "goodput"})),
    "build_changed": Doubt(
        why="the gateway's build changed while it was measured", spoils=frozenset(EVERY)
    ),
}
"""Caveats that leave gates undecided, where they make the figures doubtful."""


def with_gates(
    summary: Summary, ledger: Ledger, completeness: Completeness, caveats: Iterable[Caveat]
) -> Summary:
    """Return the summary with how each gate came out."""
    found = _gates(summary, ledger, completeness, caveats)
    return msgspec.structs.replace(summary, gates=found) if found else summary


def _gates(
    summary: Summary, ledger: Ledger, completeness: Completeness, caveats: Iterable[Caveat]
) -> tuple[GateResult, ...]:
    config = ledger.header.config
    if config.paired is not None and summary.paired is not None:
        # Loaded here: most runs have one arm.
        from bench.ab.gates import pair_gates

        return pair_gates(ledger, config.paired, summary.paired)
    gates = [gate for gate in map(read_gate, config.gates) if not gate.is_difference]
    if not gates:
        return ()
    cases = {case.id: case for case in ledger.header.cases}
    timed = (t for t in counted(ledger.trials) if is_kind(t, cases, "performance"))
    evidence = GateEvidence(
        summary=summary,
        completeness=completeness,
        trials=by_target(timed),
        stages=ledger.stages.entries,
        sweeps=frozenset(
            (block.target_id, block.case_id)
            for block in ledger.header.plan
            if block.sweep is not None
        ),
        doubts=[
            _SPOILING[caveat.code]
            for caveat in caveats
            if caveat.code in _SPOILING and caveat.level != "note"
        ],
    )
    return run_gates(gates, evidence)
