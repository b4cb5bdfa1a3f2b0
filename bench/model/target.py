"""What is measured: one pinned model and mapping."""

from bench.model.record import Record


class Prices(Record, frozen=True, kw_only=True):
    """Prices in US dollars per token (``request_usd``: per request); ``None`` = unknown, never 0."""

    input_usd: float | None = None
    output_usd: float | None = None
    cached_input_usd: float | None = None
    request_usd: float | None = None
    source: str | None = None
    """``gateway``, ``catalogue``, ``assumed`` or ``simulator``."""
    as_of: str | None = None
    """Date of the snapshot, ISO 8601."""


class TargetMetadata(Record, frozen=True, kw_only=True):
    """What the catalogue says of a target."""

    provider: str | None = None
    region: str | None = None
    prices: Prices | None = None
    context_size: int | None = None
    max_output_tokens: int | None = None
    quantization: str | None = None
    stability: str | None = None
    deactivated_at: str | None = None


class Target(Record, frozen=True, kw_only=True):
    """One pinned model+mapping."""

    id: str
    """Unique in the run: the string sent, with a suffix only when two targets send the same."""
    model: str
    """The string sent as ``model``: ``provider/model[:region]`` or what the user typed."""
    model_id: str
    mapping: str | None = None
    """``provider`` or ``provider:region``; ``None`` where the gateway chooses."""
    display_name: str
    metadata: TargetMetadata = TargetMetadata()
