"""What there is to ask: the cases, each built from a seed, and the selections of them."""

from bench.cases.coding import CODING_IDS
from bench.cases.registry import (
    CASE_IDS,
    CASES,
    DEFAULT_PROFILE,
    PROFILES,
    SUITES,
    CaseListing,
    Profile,
    Suite,
    list_cases,
    select_cases,
)

__all__ = [
    "CASES",
    "CASE_IDS",
    "CODING_IDS",
    "DEFAULT_PROFILE",
    "PROFILES",
    "SUITES",
    "CaseListing",
    "Profile",
    "Suite",
    "list_cases",
    "select_cases",
]
