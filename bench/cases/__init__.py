"""What there is to ask: the cases, each built from a seed, and the selections of them."""

from bench.cases.registry import (
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
    "DEFAULT_PROFILE",
    "PROFILES",
    "SUITES",
    "CaseListing",
    "Profile",
    "Suite",
    "list_cases",
    "select_cases",
]
