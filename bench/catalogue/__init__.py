"""What there is to benchmark: models and mappings, from the gateway, the user's files, npm."""

from bench.catalogue.fetching import ModelsQuery, fetch_listing, with_details, with_offers
from bench.catalogue.lists import parse_models
from bench.catalogue.shape import NO_LISTING, SIMULATOR_HEADER, ListedModel, Listing, Offer

__all__ = [
    "NO_LISTING",
    "SIMULATOR_HEADER",
    "ListedModel",
    "Listing",
    "ModelsQuery",
    "Offer",
    "fetch_listing",
    "parse_models",
    "with_details",
    "with_offers",
]
