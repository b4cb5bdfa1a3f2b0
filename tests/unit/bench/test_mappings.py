import pytest

from bench.errors import UnknownName, UsageFault
from bench.mappings import as_typed, choose, split_lists

KNOWN = ("fast", "fast:eu", "fast:us", "slow", "far:eu", "far:us")

CHOICES = [
    pytest.param((), ("fast", "slow", "far:eu", "far:us"), id="none-means-every"),
    pytest.param(("*",), ("fast", "slow", "far:eu", "far:us"), id="star"),
    pytest.param(("fast",), ("fast",), id="provider"),
    pytest.param(("fast:us",), ("fast:us",), id="region"),
    pytest.param(("fast:*",), ("fast:eu", "fast:us"), id="every-region"),
    pytest.param(("slow:*",), ("slow",), id="every-region-of-none"),
    pytest.param(("far",), ("far:eu", "far:us"), id="provider-with-regions-only"),
    pytest.param(("slow", "fast", "slow"), ("fast", "slow"), id="order-of-the-list"),
]


@pytest.mark.parametrize(("selectors", "wanted"), CHOICES)
def test_selectors_mean_what_is_listed(selectors, wanted):
    assert choose("m", selectors, KNOWN) == wanted


@pytest.mark.parametrize("selector", ["fats", "fast:asia", "nobody:*"])
def test_a_selector_that_fits_nothing_names_what_there_is(selector):
    with pytest.raises(UnknownName) as caught:
        choose("m", (selector,), KNOWN)
    assert caught.value.hint == "its mappings: fast, fast:eu, fast:us, slow, far:eu, far:us"
    assert caught.value.exit_code == 2


def test_lists_are_split_and_each_entry_counts_once():
    assert split_lists(["a, b,", "b", " "]) == ("a", "b")


def test_without_a_list_mappings_are_taken_as_typed():
    assert as_typed(()) == (None,)
    assert as_typed(("*",)) == (None,)
    assert as_typed(("a", "b:eu")) == ("a", "b:eu")
    with pytest.raises(UsageFault, match="a:\\*"):
        as_typed(("a:*",))
