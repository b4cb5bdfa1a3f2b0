import contextlib
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.simulator.errors import RequestRefused
from bench.simulator.scenario import Scenario, header_words, parse_words
from bench.simulator.vocabulary import ALIASES, SECTIONS, WORDS, Word

DOCS = Path(__file__).parents[4] / "docs" / "simulator.md"


def parsed(text: str) -> Scenario:
    return parse_words(text.split(), Scenario())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", Scenario(), id="no word changes nothing"),
        pytest.param("ttft50", Scenario(ttft_ns=50_000_000), id="milliseconds are the default"),
        pytest.param("ttft=1.5s", Scenario(ttft_ns=1_500_000_000), id="seconds, equals sign"),
        pytest.param("itl=250us", Scenario(itl_ns=250_000), id="microseconds"),
        pytest.param("ITL=10MS", Scenario(itl_ns=10_000_000), id="case does not matter"),
        pytest.param("n100", Scenario(tokens=100), id="a count"),
        pytest.param("tokens=2k", Scenario(tokens=2000), id="an alias, thousands"),
        pytest.param("buffer", Scenario(buffer_bytes=16_384), id="a default value"),
        pytest.param("buffer4k", Scenario(buffer_bytes=4096), id="kibibytes"),
        pytest.param("right=12.5%", Scenario(right_percent=12.5), id="a fraction of a percent"),
        pytest.param("cut3", Scenario(end="cut", end_at=3), id="a fault after tokens"),
        pytest.param("reset", Scenario(end="reset", end_at=None), id="reset before the headers"),
        pytest.param("reset2", Scenario(end="reset", end_at=2), id="reset in the middle"),
        pytest.param("reasoning5", Scenario(reasoning_tokens=5, reasoning_field="reasoning")),
        pytest.param("tool", Scenario(tool_calls=1), id="one tool call"),
        pytest.param("ttft5 ttft7", Scenario(ttft_ns=7_000_000), id="the later word counts"),
        pytest.param("status429 retryafter2", Scenario(status=429, retry_after_s=2)),
    ],
)
def test_words_become_a_scenario(text: str, expected: Scenario) -> None:
    assert parsed(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("tft50", "no scenario word `tft50`; did you mean `ttft`?", id="near match"),
        pytest.param("qqqq", "no scenario word `qqqq` (docs", id="nothing near"),
        pytest.param("50", "no scenario word `50`", id="a number alone"),
        pytest.param("ttft", "scenario word `ttft` needs a value, such as `ttft5`", id="no value"),
        pytest.param("gzip3", "scenario word `gzip3`: `gzip` takes no value", id="flag with value"),
        pytest.param("status200", "`status` goes from 400 to 599", id="out of bounds"),
        pytest.param("right=101%", "`right` goes from 0 to 100", id="more than all"),
        pytest.param("n=5ms", "`ms` is no unit of `n`", id="wrong unit"),
        pytest.param("ttft-1", "no scenario word `ttft-1`; did you mean `ttft`", id="negative"),
        pytest.param("cut3 eof2", "`eof2` and `cut` can't both end one answer", id="two ends"),
    ],
)
def test_what_is_no_word_is_refused_with_its_reason(text: str, said: str) -> None:
    with pytest.raises(RequestRefused) as caught:
        parsed(text)
    assert caught.value.status == 400
    assert said in caught.value.message


def test_a_header_separates_words_by_commas_or_space() -> None:
    scenario = parse_words(header_words(" ttft=50ms, itl=10ms,,n=3  gzip "), Scenario())
    expected = Scenario(ttft_ns=50_000_000, itl_ns=10_000_000, tokens=3, gzip=True)
    assert scenario == expected


@given(st.text())
def test_any_text_is_a_scenario_or_refused(text: str) -> None:
    with contextlib.suppress(RequestRefused):
        assert isinstance(parse_words(header_words(text), Scenario()), Scenario)


@pytest.mark.parametrize("name", WORDS)
def test_every_word_sets_fields_that_exist(name: str) -> None:
    known = {field.name for field in fields(Scenario)}
    word = WORDS[name]
    changed = {field for field, _ in word.sets} | ({word.field} if word.field else set())
    assert changed
    assert changed <= known
    assert parsed(word.example if not word.low else f"{name}{word.low:g}") is not None


def test_every_field_of_a_scenario_has_a_word() -> None:
    words = WORDS.values()
    reachable = {f for word in words for f, _ in word.sets} | {word.field for word in words}
    assert {field.name for field in fields(Scenario)} <= reachable


def test_no_name_stands_for_two_words() -> None:
    names = [word.name for words in SECTIONS.values() for word in words]
    assert len(names) == len(set(names))
    assert not set(ALIASES) & set(names)


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_the_manual_has_every_word_with_its_meaning(word: Word) -> None:
    shown = word.name if word.unit == "flag" else f"{word.name}N"
    assert f"| `{shown}` | {word.help}" in DOCS.read_text()


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_the_manual_has_every_alias(alias: str, name: str) -> None:
    assert f"`{alias}` for `{name}`" in DOCS.read_text()
