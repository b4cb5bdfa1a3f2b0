import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.dialects import same_model, same_provider, same_region


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        pytest.param("gpt-4o", "gpt-4o", id="equal"),
        pytest.param("gpt-4o", "GPT-4o-2024-08-06", id="dated"),
        pytest.param("openai/gpt-4o", "gpt-4o-20240806", id="behind-a-provider"),
        pytest.param("gpt-4", "gpt-4-0613", id="numbered"),
        pytest.param("gemini-2.0-flash", "gemini-2.0-flash-001", id="three-digits"),
        pytest.param("gemini-2.5-pro", "gemini-2.5-pro-preview-05-06", id="preview"),
        pytest.param("claude-sonnet-4", "us.anthropic.claude-sonnet-4-20250514-v1:0", id="bedrock"),
        pytest.param("claude-3.5-sonnet", "claude-3-5-sonnet-latest", id="dot-or-dash"),
        pytest.param("llama-3.1-8b", "Llama_3.1_8B-Instruct", id="tuned"),
        pytest.param("gpt-4o-2024-08-06", "gpt-4o", id="date-not-told"),
        pytest.param("m:eu", "m", id="region-not-told"),
        pytest.param("qwen:7b", "qwen:7b", id="tag"),
    ],
)
def test_these_are_the_same_model(asked, served):
    assert same_model(asked, served)


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        pytest.param("gpt-4o", "gpt-4o-mini", id="mini"),
        pytest.param("gpt-4o-mini", "gpt-4o", id="not-mini"),
        pytest.param("gpt-4", "gpt-4.1", id="next-minor"),
        pytest.param("gpt-4", "gpt-4-32k", id="other-window"),
        pytest.param("claude-sonnet-4", "claude-sonnet-4-5", id="next"),
        pytest.param("gpt-4o-2024-08-06", "gpt-4o-2024-11-20", id="other-date"),
        pytest.param("qwen:7b", "qwen:0.5b", id="other-size"),
        pytest.param("m", "", id="nothing"),
        pytest.param("a", "b", id="else"),
    ],
)
def test_these_are_not(asked, served):
    assert not same_model(asked, served)


@given(st.text(), st.text())
def test_the_order_of_two_names_does_not_matter(one, other):
    assert same_model(one, other) == same_model(other, one)
    assert same_provider(one, other) == same_provider(other, one)


@given(st.from_regex(r"[a-z]{2,8}(-[a-z0-9]{1,6}){0,3}", fullmatch=True))
def test_a_name_is_its_own_with_any_date(name):
    assert same_model(name, name)
    assert same_model(name, f"{name}-2026-01-31")
    assert not same_model(name, f"{name}-mini")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("google-ai-studio", "Google AI Studio", True, id="spelt-for-people"),
        pytest.param("z-ai", "Z.AI", True, id="dotted"),
        pytest.param("deepinfra/fp8", "DeepInfra", True, id="variant"),
        pytest.param("openai:eu", "openai", True, id="region"),
        pytest.param("openai", "azure", False, id="others"),
        pytest.param("acme", "acme and cheap", False, id="contradicting"),
    ],
)
def test_providers_are_compared_by_letters_and_digits(one, other, same):
    assert same_provider(one, other) is same


def test_regions_are_too():
    assert same_region("us-east-1", "US_East_1")
    assert not same_region("eu", "us")
