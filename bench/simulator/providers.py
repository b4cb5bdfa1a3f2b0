"""The simulated providers and models, and which of them a model string names. Pure data.

The right rate of a provider is the share of prompts to which it gives the answer book's right
answer; which prompts those are follows from seed, provider and prompt, so a run can be repeated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from bench.simulator.errors import RequestRefused, near
from bench.simulator.scenario import Scenario, parse_words

SCENARIO_PREFIX = "sim-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One personality."""

    id: str
    description: str
    words: str
    """Its scenario, in the words of docs/simulator.md."""
    right_percent: float
    usual_tokens: int = 120
    """Length of a filler answer where the request sets no lower limit."""

    @property
    def scenario(self) -> Scenario:
        """The words as a scenario."""
        base = Scenario(right_percent=self.right_percent)
        return parse_words(self.words.split(), base)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One provider's offer of a model. Prices are dollars per token."""

    provider: str
    prompt_usd: float
    completion_usd: float
    regions: tuple[str, ...] = ()
    request_usd: float = 0.0
    context_length: int = 128_000
    max_output: int = 16_384
    quantization: str | None = None
    stability: str = "stable"
    deactivated_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model and who offers it; the first offer is taken where none is named."""

    id: str
    name: str
    family: str
    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Who answers, and how."""

    model: str
    """Model id, or the scenario as it was typed."""
    provider: str
    region: str | None
    scenario: Scenario
    usual_tokens: int
    offer: Offer
    backup: str
    """Who answers when the provider is down and fallback is allowed."""


def _provider(
    name: str, words: str, right: float, description: str, tokens: int = 120
) -> tuple[str, Provider]:
    provider = Provider(
        id=name, words=words, right_percent=right, description=description, usual_tokens=tokens
    )
    return name, provider


PROVIDERS: Mapping[str, Provider] = dict(
    (
        _provider("fast", "ttft40 itl4 jitter1", 90, "quick first token, 250 tokens/s"),
        _provider("steady", "ttft120 itl8", 100, "always right, even pace"),
        _provider("slow", "ttft400 itl20 jitter6", 95, "late first token, 50 tokens/s"),
        _provider("buffered", "ttft60 itl5 hold", 90, "holds the stream back to its end"),
        _provider(
            "thinker",
            "ttft80 itl5 reasoningcontent40",
            100,
            "streams its reasoning before answering",
        ),
        _provider("sloppy", "ttft50 itl5", 50, "wrong on half of the prompts"),
        _provider("flaky", "ttft90 itl8 jitter4 failing20", 85, "503 on a fifth of the prompts"),
        _provider("limited", "ttft60 itl5 rate5", 90, "429 beyond five requests a second"),
        _provider("caching", "ttft100 itl6 cache", 90, "answers repeated prompts from a cache"),
        _provider("plain", "", 100, "no delay, always right: the default of scenarios", tokens=32),
    )
)

_SMALL = Offer(provider="fast", prompt_usd=1.5e-7, completion_usd=6e-7, regions=("eu", "us"))
_LARGE = Offer(provider="steady", prompt_usd=2.5e-6, completion_usd=1e-5, context_length=200_000)

MODELS: Mapping[str, Model] = {
    model.id: model
    for model in (
        Model(
            id="demo-small",
            name="Demo Small",
            family="demo",
            offers=(
                _SMALL,
                replace(_SMALL, provider="slow", completion_usd=3e-7, regions=("eu",)),
                replace(_SMALL, provider="buffered", completion_usd=4e-7, regions=()),
                replace(
                    _SMALL, provider="sloppy", prompt_usd=5e-8, quantization="int4", regions=()
                ),
                replace(_SMALL, provider="flaky", stability="unstable", regions=("us",)),
                replace(_SMALL, provider="limited", request_usd=1e-5, regions=()),
                replace(
                    _SMALL, provider="caching", regions=(), deactivated_at="2026-06-30T00:00:00Z"
                ),
            ),
        ),
        Model(
            id="demo-large",
            name="Demo Large",
            family="demo",
            offers=(
                _LARGE,
                replace(_LARGE, provider="fast", completion_usd=1.2e-5, regions=("eu", "us")),
                replace(_LARGE, provider="caching", quantization="fp8", stability="beta"),
            ),
        ),
        Model(
            id="demo-reasoner",
            name="Demo Reasoner",
            family="demo",
            offers=(
                replace(_LARGE, provider="thinker", prompt_usd=3e-6, max_output=32_768),
                replace(_LARGE, provider="steady", prompt_usd=3.5e-6),
            ),
        ),
    )
}

_SCENARIO_OFFER = Offer(provider="plain", prompt_usd=1e-7, completion_usd=4e-7)


@lru_cache(maxsize=1024)
def find_route(model: str, *, any_model: bool) -> Route:
    """Return who answers to a model string.

    Args:
        model: ``provider/model[:region]``, ``model[:region]``, or with ``sim-WORD-WORD…`` as model.
        any_model: Take an unknown model for one without delay instead of refusing it.

    Raises:
        RequestRefused: 404 for an unknown model, provider or region (with near matches), 400 for
            an unknown scenario word.
    """
    provider, slash, rest = model.rpartition("/")
    name, _, region = rest.partition(":")
    if name == "sim" or name.startswith(SCENARIO_PREFIX):
        return _scenario_route(name, provider if slash else None, region or None)
    known = MODELS.get(name)
    if known is not None:
        return _offered(known, provider if slash else None, region or None)
    if any_model:
        return _scenario_route(model, None, None)
    names = [*MODELS, *(f"{offer.provider}/{m.id}" for m in MODELS.values() for offer in m.offers)]
    message = f"no model `{model}`{near(model, names)}"
    raise _unknown(message)


def _scenario_route(name: str, provider: str | None, region: str | None) -> Route:
    # Gateways put a provider's name of their own before a model; only ours carries a personality.
    chosen = PROVIDERS.get(provider or "plain", PROVIDERS["plain"])
    words = name.split("-")[1:] if name.startswith(SCENARIO_PREFIX) else []
    scenario = parse_words(words, chosen.scenario)
    return Route(
        model=name,
        provider=provider or chosen.id,
        region=region,
        scenario=scenario,
        usual_tokens=chosen.usual_tokens,
        offer=replace(_SCENARIO_OFFER, provider=chosen.id),
        backup="backup",
    )


def _offered(model: Model, provider: str | None, region: str | None) -> Route:
    offers = [offer for offer in model.offers if provider in (None, offer.provider)]
    if not offers:
        known = [offer.provider for offer in model.offers]
        message = f"no provider `{provider}` of `{model.id}`{near(str(provider), known)}"
        raise _unknown(message)
    offer = offers[0]
    if region is not None and region not in offer.regions:
        listed = ", ".join(f"`{r}`" for r in offer.regions) or "none"
        message = f"no region `{region}` of `{offer.provider}/{model.id}`; it has {listed}"
        raise _unknown(message)
    chosen = PROVIDERS[offer.provider]
    return Route(
        model=model.id,
        provider=offer.provider,
        region=region,
        scenario=chosen.scenario,
        usual_tokens=chosen.usual_tokens,
        offer=offer,
        backup=next((o.provider for o in model.offers if o.provider != offer.provider), "backup"),
    )


def _unknown(message: str) -> RequestRefused:
    return RequestRefused(404, "model_not_found", message)
