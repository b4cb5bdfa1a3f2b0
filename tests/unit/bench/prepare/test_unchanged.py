from pathlib import Path

import msgspec
import pytest

from bench.catalogue import ListedModel, Listing, Offer
from bench.errors import UsageFault
from bench.model.run_config import OptionOrigin
from bench.model.target import Prices, TargetMetadata
from bench.prepare.unchanged import refuse_changed_targets
from tests.sample_documents import FAST, PATH, SLOW, ledger, trial

JOURNAL = Path("run.jsonl")
FACTS = TargetMetadata(
    provider="swift",
    upstream_model="demo-7b",
    quantization="fp8",
    context_size=8_000,
    prices=Prices(input_usd=1e-6, output_usd=2e-6, source="gateway"),
)
TARGET = msgspec.structs.replace(FAST, metadata=FACTS)


def run(*trials, target=TARGET, **header):
    return ledger(trials, targets=(target, SLOW), cases=(PATH,), **header)


def listing(metadata=FACTS, mapping="swift", model="demo-small"):
    offers = (
        Offer(mapping=mapping, metadata=metadata),
        Offer(mapping="steady:eu", metadata=SLOW.metadata),
    )
    listed = ListedModel(id=model, display_name="Demo", offers=offers)
    return Listing(models=(listed,), headers={})


def changed(**facts):
    return listing(msgspec.structs.replace(FACTS, **facts))


def test_the_same_targets_are_gone_on_with():
    assert refuse_changed_targets(JOURNAL, run(), listing()) == ()


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (changed(quantization="int4"), "quantization of target `swift/demo-small` was `fp8` and is now `int4`"),
        (changed(upstream_model="demo-3b"), "upstream model of target `swift/demo-small` was `demo-7b` and is now `demo-3b`"),
        (listing(mapping="other"), "the gateway no longer lists `demo-small` by `swift`"),
        (listing(model="else"), "the gateway no longer lists `demo-small` by `swift`; the gateway no longer lists `demo-small` by `steady:eu`"),
    ],
)  # fmt: skip
def test_another_target_under_the_same_name_is_refused_with_what_differs(now, said):
    with pytest.raises(UsageFault) as caught:
        refuse_changed_targets(JOURNAL, run(), now)
    assert caught.value.message == f"`run.jsonl` can't be resumed: {said}"
    assert "start a new run" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(Listing(headers={}), id="no list"),
        pytest.param(changed(quantization=None), id="silent now"),
        pytest.param(changed(context_size=9_000, stability="beta"), id="sizes and stability"),
    ],
)
def test_what_proves_nothing_is_no_change(now):
    assert refuse_changed_targets(JOURNAL, run(), now) == ()


def test_other_prices_are_told_and_gone_on_with():
    prices = Prices(input_usd=1e-6, output_usd=3e-6, source="gateway")
    (note,) = refuse_changed_targets(JOURNAL, run(), changed(prices=prices))
    assert note == (
        "note: the gateway now lists other prices for `swift/demo-small`; costs of this run are "
        "computed at those that it began with"
    )
    of_another_source = msgspec.structs.replace(prices, source="catalogue")
    assert refuse_changed_targets(JOURNAL, run(), changed(prices=of_another_source)) == ()
    assert refuse_changed_targets(JOURNAL, run(), changed(prices=None)) == ()


def test_a_target_that_is_through_may_have_changed():
    done = (trial(TARGET, PATH, 1), trial(TARGET, PATH, 2))
    assert refuse_changed_targets(JOURNAL, run(*done), changed(quantization="int4")) == ()


@pytest.mark.parametrize("source", [None, "assumed", "genai-prices", "gateway"])
def test_a_name_that_no_list_knew_may_be_missing_from_it_still(source):
    prices = None if source is None else Prices(input_usd=1e-6, output_usd=2e-6, source=source)
    free = msgspec.structs.replace(
        FAST, model="typed", model_id="typed", mapping=None, metadata=TargetMetadata(prices=prices)
    )
    if source == "gateway":  # so its list did know it
        with pytest.raises(UsageFault, match="no longer lists `typed`"):
            refuse_changed_targets(JOURNAL, run(target=free), listing())
    else:
        assert refuse_changed_targets(JOURNAL, run(target=free), listing()) == ()


def test_a_model_without_providers_is_compared_as_a_whole():
    plain = msgspec.structs.replace(TARGET, mapping=None, model="demo-small")
    slow = ListedModel(
        id="demo-small",
        display_name="Demo",
        metadata=changed(quantization="int4").models[0].offers[0].metadata,
    )
    with pytest.raises(UsageFault, match="quantization"):
        refuse_changed_targets(JOURNAL, run(target=plain), Listing(models=(slow,), headers={}))


def test_where_a_catalogue_had_a_say_the_gateways_word_alone_proves_nothing():
    said = {"catalogue": OptionOrigin(value=["own.toml"], origin="flag")}
    for now in (changed(quantization="int4"), listing(mapping="other")):
        assert refuse_changed_targets(JOURNAL, run(options=said), now) == ()
