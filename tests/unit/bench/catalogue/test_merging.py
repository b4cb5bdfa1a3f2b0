from bench.catalogue.merging import Source, merged_listing
from bench.catalogue.shape import ListedModel, Listing, Offer
from bench.model.target import Prices, TargetMetadata

NOTHING = TargetMetadata()


def priced(dollars: float, source: str = "catalogue", **facts: object) -> TargetMetadata:
    prices = Prices(input_usd=dollars, output_usd=dollars, source=source)
    return TargetMetadata(prices=prices, **facts)  # type: ignore[arg-type]


def model(id_: str, metadata: TargetMetadata = NOTHING, **offers: TargetMetadata) -> ListedModel:
    made = tuple(Offer(mapping=name, metadata=each) for name, each in offers.items())
    return ListedModel(id=id_, display_name=id_, offers=made, metadata=metadata)


def own(*models: ListedModel) -> Source:
    return Source(label="mine.toml", models=models, kind="own")


def package(*models: ListedModel) -> Source:
    return Source(label="npm 1.0", models=models, kind="package")


GATEWAY = Listing(
    models=(model("m", a=priced(1e-6, "gateway", stability="stable")),),
    headers={},
    url="http://g/m",
)


def only(listing: Listing) -> ListedModel:
    (found,) = listing.models
    return found


def test_without_catalogues_the_list_is_the_gateways():
    assert merged_listing(GATEWAY, ()) is GATEWAY


def test_the_users_word_goes_first_and_the_package_fills_gaps():
    mine = own(model("m", a=priced(2e-6)))
    theirs = package(model("m", a=priced(9e-6, context_size=7, stability="beta")))
    listing = merged_listing(GATEWAY, (mine, theirs))
    (offer,) = only(listing).offers
    assert offer.metadata.prices == Prices(
        input_usd=2e-6, output_usd=2e-6, source="catalogue", source_detail="mine.toml"
    )
    assert (offer.metadata.stability, offer.metadata.context_size) == ("stable", 7)
    assert offer.origins == {
        "prices": "mine.toml",
        "stability": "http://g/m",
        "context_size": "npm 1.0",
    }
    assert listing.catalogues == ("mine.toml", "npm 1.0")


def test_the_user_may_add_models_and_the_package_only_where_there_is_no_list():
    listing = merged_listing(GATEWAY, (own(model("mine")), package(model("theirs"))))
    assert [each.id for each in listing.models] == ["m", "mine"]
    alone = merged_listing(Listing(headers={}), (package(model("theirs")),))
    assert [each.id for each in alone.models] == ["theirs"]


def test_the_package_knows_regions_that_the_list_leaves_out():
    listing = merged_listing(
        GATEWAY, (package(model("m", a=priced(1e-6), **{"a:eu": priced(3e-6)})),)
    )
    assert [offer.mapping for offer in only(listing).offers] == ["a", "a:eu"]


def test_what_the_user_says_of_a_model_holds_for_each_of_its_offers():
    listing = merged_listing(GATEWAY, (own(model("m", priced(0.0))),))
    (offer,) = only(listing).offers
    assert offer.metadata.prices is not None
    assert offer.metadata.prices.input_usd == 0


def test_a_models_price_in_the_gateways_list_is_not_an_offers():
    flat = Listing(models=(model("m", priced(1e-6, "gateway", context_size=5)),), headers={})
    listing = merged_listing(flat, (own(model("m", x=TargetMetadata())),))
    (offer,) = only(listing).offers
    assert (offer.metadata.prices, offer.metadata.context_size) == (None, 5)


def test_a_name_for_people_is_kept_from_whoever_has_one():
    named = ListedModel(id="m", display_name="The M")
    assert only(merged_listing(GATEWAY, (package(named),))).display_name == "The M"
