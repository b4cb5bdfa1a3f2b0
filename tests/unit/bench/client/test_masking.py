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
