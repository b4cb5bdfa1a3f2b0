"""External suites: somebody else's prompts and rules, asked and reported like cases of our own.

``ExternalSuite`` is the public contract: any installed package adds a suite by an entry point in
the group ``gateway_bench.external``. See docs/external-suites.md.
"""

from bench.external.contract import (
    ENTRY_POINT_GROUP,
    ExternalSuite,
    Loaded,
    SuiteFault,
    Unsupported,
    fixed_case,
)
from bench.external.registry import known_suites
from bench.external.selecting import Asked, Chosen, choose

__all__ = [
    "ENTRY_POINT_GROUP",
    "Asked",
    "Chosen",
    "ExternalSuite",
    "Loaded",
    "SuiteFault",
    "Unsupported",
    "choose",
    "fixed_case",
    "known_suites",
]
