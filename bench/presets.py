"""What is known of a gateway by name: its dialect, its production endpoint, its local keys.

How a local one is started is the orchestrator's knowledge; nothing here starts anything. Pure.
"""

from collections.abc import Mapping

from bench.model.record import Value


class Preset(Value, frozen=True, kw_only=True):
    """One named gateway."""

    name: str
    dialect: str
    production_url: str | None = None
    local_keys: tuple[str, ...] = ()
    """Variables whose value belongs on this machine."""
    local_tokens: tuple[str, ...] = ()
    """Seeded tokens: known to everybody, good for a local gateway only."""


PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            name="demo",
            dialect="llmgateway",
            local_keys=("LOCAL_DEMO_API_KEY",),
            local_tokens=("test-token",),
        ),
        Preset(
            name="llmgateway",
            dialect="llmgateway",
            production_url="https://api.llmgateway.io/v1",
            local_keys=("LOCAL_LLMGATEWAY_API_KEY",),
            local_tokens=("test-token",),
        ),
        Preset(
            name="litellm",
            dialect="litellm",
            local_keys=("LOCAL_LITELLM_API_KEY", "LITELLM_MASTER_KEY"),
            local_tokens=("sk-test-token",),
        ),
        Preset(name="portkey", dialect="portkey", local_keys=("LOCAL_PORTKEY_API_KEY",)),
    )
}
