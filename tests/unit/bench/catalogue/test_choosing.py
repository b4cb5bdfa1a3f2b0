from datetime import date

import pytest

from bench.catalogue.choosing import choices, is_off
from bench.catalogue.shape import ListedModel, Listing, Offer
from bench.cli.model_table import as_values, table
from bench.errors import UnknownName
from bench.model.target import Prices, PriceTier, TargetMetadata
from bench.report.escaping import display_width

TODAY = date(2026, 11, 30)
CHEAP = Prices(input_usd=1.5e-7, output_usd=6e-7, cached_input_usd=1e-8, source="gateway")
STEPS = Prices(
    input_usd=3e-6,
    output_usd=1.5e-5,
    tiers=(PriceTier(above_prompt_tokens=200_000, input_usd=6e-6),),
)
LISTING = Listing(
    models=(
        ListedModel(
            id="writer-small",
            display_name="Writer (small)",
            offers=(
                Offer(
                    mapping="acme",
                    metadata=TargetMetadata(
                        prices=CHEAP,
                        context_size=128_000,
                        max_output_tokens=4_096,
                        stability="beta",
                        quantization="fp8",
                        deactivated_at="2027-01-31T00:00:00Z",
                    ),
                    origins={"prices": "/home/me/mine.toml", "context_size": "https://g/v1/models"},
                ),
                Offer(mapping="acme:eu", metadata=TargetMetadata(deactivated_at="2026-01-01")),
            ),
        ),
        ListedModel(
            id="vendor/thinker",
            display_name="vendor/thinker",
            metadata=TargetMetadata(prices=STEPS),
        ),
    ),
    headers={},
    url="https://g/v1/models",
)


def found(*words: str, selectors: tuple[str, ...] = ()) -> list[str]:
    chosen = choices(LISTING, words=words, selectors=selectors, today=TODAY)
    return [f"{each.model.id} {each.mapping}" for each in chosen]


def test_everything_is_there_without_words():
    assert found() == ["writer-small acme", "writer-small acme:eu", "vendor/thinker None"]


@pytest.mark.parametrize(
    ("words", "count"),
    [
        pytest.param(("WRITER",), 2, id="case-does-not-matter"),
        pytest.param(("small", "eu"), 1, id="every-word"),
        pytest.param(("(small)",), 2, id="name-for-people"),
        pytest.param(("thinker",), 1, id="no-offers"),
    ],
)
def test_each_word_has_to_stand_somewhere(words, count):
    assert len(found(*words)) == count


def test_a_word_that_fits_nothing_has_near_matches():
    with pytest.raises(UnknownName, match="did you mean `writer-small`"):
        found("writter-small")
    with pytest.raises(UnknownName, match="small thinker"):
        found("small", "thinker")


@pytest.mark.parametrize(
    ("selector", "count"),
    [
        pytest.param("acme", 1, id="provider"),
        pytest.param("acme:eu", 1, id="region"),
        pytest.param("acme:*", 1, id="all-regions"),
        pytest.param("*", 2, id="all"),
    ],
)
def test_mappings_are_selected_as_a_run_would(selector, count):
    assert len(found(selectors=(selector,))) == count


def test_a_selector_that_fits_nothing_has_near_matches():
    with pytest.raises(UnknownName, match="did you mean `acme`"):
        found(selectors=("acne",))


def test_an_empty_list_is_no_error():
    assert choices(Listing(headers={}), words=("x",), selectors=(), today=TODAY) == ()


def test_dates_of_deactivation():
    assert is_off("2026-11-30T23:00:00Z", TODAY)
    assert not is_off("2026-12-01", TODAY)
    assert not is_off("one day", TODAY)
    assert not is_off(None, TODAY)


def lines(width: int | None) -> list[str]:
    chosen = choices(LISTING, words=(), selectors=(), today=TODAY)
    return table(chosen, source="https://g/v1/models", width=width).splitlines()


def test_a_table_says_prices_state_and_source():
    heading, first, second, third = lines(None)
    assert heading.split()[:2] == ["model", "mapping"]
    assert "0.15" in first
    assert "128,000" in first
    assert "beta, fp8, until 2027-01-31" in first
    assert first.endswith("mine.toml + gateway")
    assert "off since 2026-01-01" in second
    assert "3+" in third
    assert "15+" in third


@pytest.mark.parametrize("width", [100, 80, 60, 40])
def test_a_table_fits_the_terminal(width):
    assert max(map(len, lines(width))) <= width
    assert lines(width)[1].startswith("writer")


def test_values_have_units_and_leave_out_what_nobody_says():
    first, second, third = choices(LISTING, words=(), selectors=(), today=TODAY)
    values = as_values(first, source="https://g/v1/models")
    assert values == {
        "model": "writer-small",
        "name": "Writer (small)",
        "mapping": "acme",
        "inputUsdPerMillion": 0.15,
        "outputUsdPerMillion": 0.6,
        "cachedInputUsdPerMillion": 0.01,
        "contextTokens": 128_000,
        "maxOutputTokens": 4_096,
        "stability": "beta",
        "quantization": "fp8",
        "deactivatedAt": "2027-01-31T00:00:00Z",
        "isActive": True,
        "from": {
            "/home/me/mine.toml": ["prices"],
            "https://g/v1/models": [
                "context",
                "maxOutput",
                "stability",
                "quantization",
                "deactivatedAt",
            ],
        },
    }
    assert as_values(second, source="s")["isActive"] is False
    assert as_values(third, source="s")["pricesDependOnLengthOrHour"] is True


def test_a_table_of_hostile_names_has_one_line_for_each_and_fits():
    names = ("a\nb", "\x1b[2J", "模型" * 30, "m" * 100_000)
    listing = Listing(
        models=tuple(ListedModel(id=name, display_name=name) for name in names), headers={}
    )
    chosen = choices(listing, words=(), selectors=(), today=TODAY)
    for width in (80, None):
        lines = table(chosen, source="gateway", width=width).splitlines()
        assert len(lines) == 1 + len(names)
        assert all(line.isprintable() for line in lines)
        assert max(map(display_width, lines)) <= (width or 400)
