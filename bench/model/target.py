"""What is measured: one pinned model and mapping."""

from bench.model.record import Record


class TokenPrices(Record, frozen=True, kw_only=True):
    """Prices in US dollars per token; ``None`` = unknown, never 0."""

    input_usd: float | None = None
    output_usd: float | None = None
    cached_input_usd: float | None = None
    """Of prompt tokens that the provider read from its prompt cache; ``None`` = the full price."""
    cache_write_usd: float | None = None
    """Of prompt tokens that it wrote into that cache."""
    cache_write_1h_usd: float | None = None
    """Of those that it keeps there for an hour."""
    reasoning_usd: float | None = None
    """Of reasoning tokens; ``None`` = the output price."""


class PriceTier(TokenPrices, frozen=True, kw_only=True):
    """Other prices of long prompts, for all tokens of the request; ``None`` = as below the step."""

    above_prompt_tokens: int
    """Holds from one token more."""


class PriceWindow(TokenPrices, frozen=True, kw_only=True):
    """Other prices at a time of day; ``None`` = unknown, as in ``Prices``."""

    begins: str
    """UTC, ``HH:MM``."""
    ends: str
    """UTC, exclusive; before ``begins`` = on the next day."""
    tiers: tuple[PriceTier, ...] = ()


class Prices(TokenPrices, frozen=True, kw_only=True):
    """What a request costs: prices per token and per request."""

    request_usd: float | None = None
    tiers: tuple[PriceTier, ...] = ()
    """Ascending."""
    windows: tuple[PriceWindow, ...] = ()
    """The last one that is open counts."""
    source: str | None = None
    """``gateway`` (its list), ``catalogue``, ``assumed``, ``simulator``, or ``genai-prices``."""
    source_detail: str | None = None
    """Where in the source: version and entry; ``None`` where there is nothing to add."""
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
    upstream_model: str | None = None
    """What the provider itself calls the model."""


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
