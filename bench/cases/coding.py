"""The ids of the coding tasks. Their texts are data that `bench.agent` reads when one is asked."""

CODING_IDS = (
    "agentic_bugfix_small",
    "agentic_bugfix_small_javascript",
    "agentic_feature_small",
    "agentic_misleading_comment",
    "agentic_bugfix_files",
    "agentic_api_change",
    "agentic_spec_edges",
    "agentic_spec_edges_javascript",
    "agentic_parser",
    "agentic_step_counter",
    "agentic_interleaving",
    "agentic_migration",
    "agentic_forty_files",
    "agentic_test_cases",
    "agentic_text_merge",
    "agentic_registers",
)
"""From easy to expert; the order in which they are listed and planned."""
