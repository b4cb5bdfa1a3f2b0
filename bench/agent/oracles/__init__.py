"""The hidden checks of each coding task, by task id: inputs and what has to come of them.

Every expected value is computed here, by a solver that shares no code with the task's own solution.
"""

from collections.abc import Callable, Mapping

from bench.agent.oracles import (
    customers,
    durations,
    edits,
    exchange,
    formulas,
    invoices,
    paging,
    parcels,
    registers,
    shares,
    shelves,
    taxi,
    tiers,
    transfers,
)
from bench.agent.task import Check

CHECKS: Mapping[str, Callable[[], tuple[Check, ...]]] = {
    "agentic_bugfix_small": paging.python_checks,
    "agentic_bugfix_small_javascript": paging.javascript_checks,
    "agentic_feature_small": durations.checks,
    "agentic_misleading_comment": tiers.checks,
    "agentic_bugfix_files": invoices.checks,
    "agentic_api_change": taxi.checks,
    "agentic_spec_edges": exchange.checks,
    "agentic_spec_edges_javascript": exchange.checks,
    "agentic_parser": formulas.checks,
    "agentic_step_counter": shelves.checks,
    "agentic_interleaving": transfers.checks,
    "agentic_migration": customers.checks,
    "agentic_forty_files": parcels.checks,
    "agentic_test_cases": shares.checks,
    "agentic_text_merge": edits.checks,
    "agentic_registers": registers.checks,
}
