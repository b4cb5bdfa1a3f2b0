"""How limits over a whole run come out: pass, fail, or undecided with what would decide. Pure.

Formulas: docs/metrics.md, *Gates*. Differences of two sides are judged in `bench.ab`.
"""

from bench.gates.run import GateEvidence, run_gates

__all__ = ["GateEvidence", "run_gates"]
