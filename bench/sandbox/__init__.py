"""Run hostile candidate code: no network, no file but its own, no process but its own, and limits.

``probe`` finds out by trying what this machine can hold; ``Sandbox`` runs programs behind it;
``require`` refuses below the minimum level. See ``docs/sandbox.md``.
"""

from bench.sandbox.program import (
    End,
    Language,
    Limits,
    Outcome,
    Program,
    Protection,
    Protections,
    SandboxLevel,
    refusal,
)
from bench.sandbox.running import Sandbox, language_fault, probe, require

__all__ = [
    "End",
    "Language",
    "Limits",
    "Outcome",
    "Program",
    "Protection",
    "Protections",
    "Sandbox",
    "SandboxLevel",
    "language_fault",
    "probe",
    "refusal",
    "require",
]
