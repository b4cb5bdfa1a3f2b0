"""What can be asked for: models, the offers that providers make of them, and who says so. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.model.target import TargetMetadata

SIMULATOR_HEADER = "x-gateway-bench-simulator"
_NO_ORIGINS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One provider's offer of a model."""

    mapping: str
    """``provider`` or ``provider:region``."""
    metadata: TargetMetadata
    origins: Mapping[str, str] = field(default_factory=lambda: _NO_ORIGINS)
    """Field of ``metadata`` → who says so, where more than one source was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """One model of a list."""

    id: str
    display_name: str
    offers: tuple[Offer, ...] = ()
    """Empty where the gateway chooses the provider itself."""
    metadata: TargetMetadata = field(default_factory=TargetMetadata)
    origins: Mapping[str, str] = field(default_factory=lambda: _NO_ORIGINS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a gateway and the user's catalogues list; ``models`` is empty when nobody lists any."""

    models: tuple[ListedModel, ...] = ()
    headers: Mapping[str, str]
    """Of the gateway's answer, names in lower case; empty when there was none."""
    url: str | None = None
    """Where the gateway's list came from."""
    host: str = ""
    """That was asked."""
    problem: str | None = None
    """Why there is no list of the gateway's, for people; ``None`` when there is one."""
    names_providers: bool = False
    """The gateway's list is of the kind that pins a provider in the model's name."""
    catalogues: tuple[str, ...] = ()
    """Files and packages of the user's that were read."""

    @property
    def is_simulator(self) -> bool:
        """Whether the embedded simulator itself answered: what it does costs nothing."""
        return self.headers.get(SIMULATOR_HEADER) == "1"

    @property
    def patterns(self) -> tuple[str, ...]:
        """Names that are accepted though no entry has them, as wildcards."""
        listed = tuple(model.id for model in self.models if "*" in model.id)
        return (*listed, "sim-*", "*/sim-*") if self.is_simulator else listed

    @property
    def listed_by(self) -> str:
        """Where a person can see the list."""
        return self.url or " ".join(self.catalogues) or "GET /models"


NO_LISTING = Listing(headers={})
