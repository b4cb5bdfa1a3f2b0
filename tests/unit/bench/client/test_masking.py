import json
from base64 import b64encode
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from bench.client.masking import Mask
from bench.model.trial import Response, ResponseError, ToolCall, Usage

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


KEY = 'sk-"quoted"/é+secret'
_KEYED = Mask((("Authorization", f"Bearer {KEY}"),))


def _all_key(kind: type, *, ours: frozenset[str] = frozenset()) -> Any:
    """Return a record whose every text, however deep, is the key."""
    hints = msgspec.structs.fields(kind)
    values: dict[str, Any] = {}
    for field in hints:
        if field.name in ours:
            continue
        said = str(field.type)
        if "ToolCall" in said:
            values[field.name] = (_all_key(ToolCall),)
        elif "Usage" in said:
            values[field.name] = Usage(raw={KEY: [KEY, {"deep": f"a {KEY}"}]})
        elif "ResponseError" in said:
            values[field.name] = ResponseError(code="http_500", seed_code="x", message=KEY)
        elif "str" in said:
            values[field.name] = KEY
    return kind(**values)


def test_nothing_that_a_server_says_keeps_the_key() -> None:
    spoken = _all_key(Response, ours=frozenset({"connection"}))
    assert msgspec.json.encode(spoken).count(b"quoted") > 12
    masked = _KEYED.response(spoken)
    assert b"quoted" not in msgspec.json.encode(masked)
    assert masked.error is not None
    assert (masked.error.code, masked.error.message) == ("http_500", "[secret]")
    assert masked.tool_calls[0].id == "[secret]"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(quote(KEY, safe=""), id="in a URL"),
        pytest.param(b64encode(f"user:{KEY}".encode()).decode(), id="in base64"),
        pytest.param(json.dumps(KEY), id="in JSON"),
    ],
)
def test_a_key_that_is_written_another_way_goes_too(text: str) -> None:
    masked = _KEYED.text(f"<{text}>")
    assert "[secret]" in masked
    assert "quoted" not in masked
    assert KEY[4:12] not in masked


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(f"bad {KEY[:9]}…", "bad [secret]…", id="the beginning of a key"),
        pytest.param(
            f"bad {KEY[:9]}…, after 2 chunks", "bad [secret]…, after 2 chunks", id="inside"
        ),
        pytest.param("bad sk-…", "bad sk-…", id="too little to tell"),
        pytest.param(f"bad {KEY[:9]}", f"bad {KEY[:9]}", id="not cut"),
    ],
)
def test_what_an_excerpt_left_of_a_key_goes_too(message: str, expected: str) -> None:
    error = ResponseError(code="http_500", seed_code="x", message=message)
    masked = _KEYED.response(Response(error=error)).error
    assert masked is not None
    assert masked.message == expected
