"""What a dialect is: the words of one gateway, as data.

Requests are described by ``Words``, answers by sources: ``header:NAME`` or ``body:PATH.TO.FIELD``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.model.record import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Headers and body fields that say one thing to a gateway.

    Text may hold `{provider}`, `{region}`, `{offer}` (`provider` or `provider/region`), `{run}`,
    `{trial}` and `{tags}` (a JSON object of all tags).
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)


NOTHING = Words()


class NameForm(Value, frozen=True, kw_only=True):
    """How a mapping is pinned inside the string that is sent as ``model``."""

    pinned: str
    """With `{provider}` and `{model}`."""
    region: str = ""
    """What a region adds, with `{region}`; empty where the name can't carry one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The words of one gateway. Of several sources of a claim the first that says something wins.

    A cache hit and a fallback are facts if any source tells them: a gateway that contradicts itself
    is not believed.
    """

    name: str
    title: str
    documents: tuple[str, ...]
    """Where the names come from."""
    cannot: tuple[str, ...] = ()
    """What no word of this gateway asks for or tells; shown to people."""

    # ---- asking -----------------------------------------------------------------
    always: Words = NOTHING
    """Sent with each request, to be told more."""
    name_form: NameForm | None = None
    """``None`` where the name carries no provider."""
    pin: Words = NOTHING
    """Pins a mapping beside the name; needs `{provider}`."""
    no_cache: Words = NOTHING
    """Keeps the answer out of the gateway's response cache."""
    no_fallback: Words = NOTHING
    """Forbids another provider or model in place of the one asked for."""
    tags: Words = NOTHING
    """Carries the tags; needs `{run}` and `{trial}`."""

    # ---- being told ---------------------------------------------------------------
    request_id: tuple[str, ...] = ("header:x-request-id", "header:request-id")
    generation_id: tuple[str, ...] = ("body:id",)
    """What the answer calls itself: the name that a provider's bill has for it."""
    created_s: tuple[str, ...] = ("body:created", "body:created_at")
    """When the answer was made, unix seconds."""
    served_provider: tuple[str, ...] = ()
    """Where body and headers contradict each other both are told, so that neither passes for the pin."""
    served_region: tuple[str, ...] = ()
    served_model: tuple[str, ...] = ()
    provider_names: Mapping[str, str] = field(default_factory=dict)
    """What answers call a provider → what requests call it, where the letters differ; lower case."""
    cost_usd: tuple[str, ...] = ()
    overhead_ms: tuple[str, ...] = ()
    cache_hit: tuple[str, ...] = ("header:x-cache",)
    """A flag, or words with ``hit``, ``miss``, ``disabled``, ``refresh`` or ``bypass`` in them."""
    cache_key: str | None = None
    """Header that is there only when the response cache answered."""
    fallback: tuple[str, ...] = ()
    """A flag, or a count from 0 of fallbacks that were needed."""
    attempts: tuple[str, ...] = ()
    """A count from 1 of attempts, or the list of them: more than one is a fallback."""
    asked_and_used: tuple[tuple[str, str], ...] = ()
    """Pairs of sources that differ when another provider than the one asked for answered."""
    retry_after: tuple[str, ...] = ("retry-after",)
    """Headers that say how long to wait, best first."""
    key_refusals: tuple[str, ...] = ()
    """What the body of an HTTP 400 holds when it is the key that was refused."""

    # ---- being found ----------------------------------------------------------------
    marks: tuple[str, ...] = ()
    """Beginnings of response header names by which the dialect is recognised."""
    hosts: tuple[str, ...] = ()
    """Its public hosts; their subdomains are meant too."""
    models_query: str | None = None
    """Query under which its list of models also names wildcards."""
    deactivated_query: str | None = None
    """Query under which that list also has what is switched off."""
    details_path: str | None = None
    """Beside its list of models: what the list leaves out (prices, limits)."""
    offers_path: str | None = None
    """Below its list of models, with `{model}`: the providers of one model."""


class Claims(Value, frozen=True, kw_only=True):
    """What a gateway says about its own answer; ``None`` = it says nothing."""

    request_id: str | None = None
    generation_id: str | None = None
    created_s: float | None = None
    served_provider: str | None = None
    served_region: str | None = None
    served_model: str | None = None
    cost_usd: float | None = None
    overhead_ms: float | None = None
    cache_hit: bool | None = None
    fallback: bool | None = None
