import pytest

from bench.client.masking import Mask

_MASK = Mask(
    (
        ("Authorization", "Bearer sk-abcdef"),
        ("X-Proxy-Authorization", "raw-token"),
        ("x-key", " padded-secret "),
        ("x-short", "abc"),
        ("Accept", "text/plain"),
    )
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("got `Bearer sk-abcdef`", "got `[secret]`"),
        ("got sk-abcdef!", "got [secret]!"),
        ("raw-token padded-secret", "[secret] [secret]"),
        ("abc and text/plain stay", "abc and text/plain stay"),
        ("", ""),
    ],
)
def test_secrets_go_and_ordinary_text_stays(text: str, expected: str) -> None:
    assert _MASK.text(text) == expected


_NAMED = Mask(
    (
        ("x-portkey-provider", "openai"),
        ("x-custom-host", "http://127.0.0.1:4000/v1"),
        ("x-config", "0123456789abcdef"),
        ("x-plain", "hunter2"),
        ("Cookie", "sid=1"),
    ),
    secrets=("hunter2",),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("openai error", "openai error", id="a word in a header is no secret"),
        pytest.param("at http://127.0.0.1:4000/v1", "at http://127.0.0.1:4000/v1", id="nor a URL"),
        pytest.param("is 0123456789abcdef", "is [secret]", id="a long value may be one"),
        pytest.param("is hunter2", "is [secret]", id="what is named a secret is one"),
        pytest.param("got sid=1", "got [secret]", id="the name tells"),
    ],
)
def test_answers_keep_the_words_that_headers_hold(text: str, expected: str) -> None:
    assert _NAMED.text(text) == expected
