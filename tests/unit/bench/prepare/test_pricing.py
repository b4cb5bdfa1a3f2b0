from datetime import UTC, datetime

import pytest

from bench.model.target import Prices, Target, TargetMetadata
from bench.prepare.pricing import is_priced, price_note, with_library_prices
from bench.price_library import PriceLibrary

NOW = datetime(2026, 11, 30, tzinfo=UTC)
LOCAL = "http://127.0.0.1:4000/v1/chat/completions"
LISTED = Prices(input_usd=1.0, output_usd=2.0, source="gateway")
HALF = Prices(input_usd=1.0, source="gateway")


def target(prices=None, model="gpt-4o"):
    return Target(
        id=model,
        model=model,
        model_id=model,
        display_name=model,
        metadata=TargetMetadata(prices=prices),
    )


def priced(*targets, library=None):
    return with_library_prices(targets, library, url=LOCAL, now=NOW)


@pytest.mark.parametrize(("prices", "whole"), [(None, False), (HALF, False), (LISTED, True)])
def test_a_price_is_whole_or_none(prices, whole):
    assert is_priced(target(prices)) is whole


def test_the_library_fills_what_nobody_lists_and_says_so():
    library = PriceLibrary.load()
    listed, half, bare, unknown = priced(
        target(LISTED), target(HALF), target(), target(model="sim-42"), library=library
    )
    assert listed.metadata.prices == LISTED
    for filled in (half, bare):
        assert filled.metadata.prices.source == "genai-prices"
    assert unknown.metadata.prices is None
    note = price_note([listed, bare, unknown])
    assert note is not None
    assert note.startswith("prices: gpt-4o from genai-prices ")
    assert note.endswith(": openai/gpt-4o, by its name")
    assert price_note([listed, unknown]) is None


def test_without_the_library_nothing_changes():
    assert priced(target()) == (target(),)
