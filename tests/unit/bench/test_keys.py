import html
import json
from base64 import b64encode
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.keys import MASK, Address, KnownKeys, Origin, Secret, may_send, redact

PROD, LOCAL, TOKEN = "sk-production-1", "local-secret-1", "test-token"
KNOWN = KnownKeys(
    production=(("LLM_GATEWAY_API_KEY", PROD),),
    local=(("LOCAL_KEY", LOCAL), ("LOCAL_DEMO_API_KEY", TOKEN)),
)
HERE = Address(
    scheme="http",
    host="127.0.0.1",
    origin=Origin.FLAG,
    given_by="--url",
    is_loopback=True,
    is_remote=False,
)


def there(scheme: str = "https", origin: Origin = Origin.FLAG, *, trusted: bool = False) -> Address:
    return Address(
        scheme=scheme,
        host="api.example",
        origin=origin,
        given_by="BENCHMARK_API_URL in .env",
        is_loopback=False,
        is_remote=True,
        is_trusted=trusted,
    )


def key(
    variable: str,
    value: str,
    origin: Origin = Origin.ENVIRONMENT,
    named_by: Origin | None = None,
) -> Secret:
    return Secret(variable=variable, value=value, origin=origin, named_by=named_by)


BOTH = Address(
    scheme="https",
    host="mixed.example",
    origin=Origin.FLAG,
    given_by="--url",
    is_loopback=True,
    is_remote=True,
)

DECISIONS = [
    pytest.param(key("LLM_GATEWAY_API_KEY", PROD), there(), None, id="production-key-abroad"),
    pytest.param(
        key("LLM_GATEWAY_API_KEY", PROD),
        HERE,
        "`LLM_GATEWAY_API_KEY` holds a production key and 127.0.0.1 is this machine",
        id="production-key-here",
    ),
    pytest.param(
        key("LLMGATEWAY_API_KEY", "unknown-value"),
        HERE,
        "`LLMGATEWAY_API_KEY` holds a production key and 127.0.0.1 is this machine",
        id="production-key-by-its-name-alone",
    ),
    pytest.param(
        key("MINE", PROD, named_by=Origin.FLAG),
        HERE,
        "`MINE` holds the same production key as `LLM_GATEWAY_API_KEY` and 127.0.0.1 is this machine",
        id="production-key-under-another-name",
    ),
    pytest.param(
        key("LLM_GATEWAY_API_KEY", PROD, named_by=Origin.FLAG),
        HERE,
        None,
        id="production-key-told-by-name",
    ),
    pytest.param(
        key("LLM_GATEWAY_API_KEY", PROD, named_by=Origin.FILE),
        HERE,
        "`LLM_GATEWAY_API_KEY` holds a production key and 127.0.0.1 is this machine",
        id="a-file-is-no-person",
    ),
    pytest.param(key("LOCAL_KEY", LOCAL, named_by=Origin.FLAG), HERE, None, id="local-key-here"),
    pytest.param(
        key("LOCAL_KEY", LOCAL, named_by=Origin.ENVIRONMENT),
        there(),
        "`LOCAL_KEY` holds a local key and api.example is not this machine",
        id="local-key-abroad",
    ),
    pytest.param(
        key("LOCAL_OTHER", "never-seen", named_by=Origin.DOTENV),
        there(),
        "`LOCAL_OTHER` holds a local key and api.example is not this machine",
        id="local-key-by-its-name-alone",
    ),
    pytest.param(
        key("MINE", TOKEN, named_by=Origin.FLAG),
        there(),
        "`MINE` holds the same local key as `LOCAL_DEMO_API_KEY` and api.example is not this machine",
        id="seeded-token-abroad",
    ),
    pytest.param(
        key("LOCAL_KEY", LOCAL, named_by=Origin.FLAG), there(), None, id="local-key-told-by-name"
    ),
    pytest.param(
        key("MINE", "k-own-1", named_by=Origin.FLAG),
        there("http"),
        "the key in `MINE` would go to api.example over plain http",
        id="plain-http-abroad-even-by-name",
    ),
    pytest.param(key("MINE", "k-own-1", named_by=Origin.FLAG), HERE, None, id="plain-http-here"),
    pytest.param(
        key("MINE", "k-own-1", named_by=Origin.FLAG),
        there(origin=Origin.DOTENV),
        "the key in `MINE` would go to api.example, which BENCHMARK_API_URL in .env names",
        id="url-from-dotenv",
    ),
    pytest.param(
        key("MINE", "k-own-1"),
        there(origin=Origin.FILE),
        "the key in `MINE` would go to api.example, which BENCHMARK_API_URL in .env names",
        id="url-from-toml",
    ),
    pytest.param(
        key("MINE", "k-own-1"), there(origin=Origin.FILE, trusted=True), None, id="trusted-host"
    ),
    pytest.param(
        key("MINE", "k-own-1", Origin.DOTENV), there(origin=Origin.DOTENV), None, id="one-dotenv"
    ),
    pytest.param(key("MINE", "k-own-1"), there(origin=Origin.ENVIRONMENT), None, id="url-from-env"),
    pytest.param(key("MINE", "k-own-1"), there(origin=Origin.PRESET), None, id="url-of-preset"),
    pytest.param(
        key("LLM_GATEWAY_API_KEY", PROD),
        BOTH,
        "`LLM_GATEWAY_API_KEY` holds a production key and mixed.example is this machine",
        id="a-name-that-may-stay-here",
    ),
    pytest.param(
        key("MINE", LOCAL),
        BOTH,
        "`MINE` holds the same local key as `LOCAL_KEY` and mixed.example is not this machine",
        id="a-name-that-may-leave",
    ),
]


@pytest.mark.parametrize(("secret", "address", "refusal"), DECISIONS)
def test_a_key_goes_only_where_it_belongs(secret, address, refusal):
    refused = may_send(secret, address, KNOWN)
    assert (refused.message if refused else None) == refusal
    if refused:
        assert refused.exit_code == 7
        assert refused.hint
        assert secret.value not in refused.message + refused.hint


@given(st.text(min_size=4), st.text(), st.text())
def test_a_masked_text_holds_the_key_in_no_form(secret, before, after):
    forms = (
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        b64encode(secret.encode()).decode(),
    )
    for form in forms:
        assert redact(form, [secret]) == MASK


@given(st.binary(max_size=5), st.text("abcdefgh0123456789", min_size=12))
def test_basic_credentials_don_t_show_the_key(user, secret):
    header = b64encode(user + b":" + secret.encode()).decode()
    assert MASK in redact(header, [secret])


@pytest.mark.parametrize("secret", ["sk-a\udce9b", "sk-\udce9\ud83d"])
def test_a_key_that_is_no_text_is_masked_and_breaks_nothing(secret):
    assert redact(f"<{secret}>", (secret,)) == f"<{MASK}>"
    assert redact("sk-a%E9b", ("sk-a\udce9b",)) == MASK


def test_short_secrets_are_left_alone():
    assert redact("abc", ["abc", ""]) == "abc"


KEY = 'sk-"a/b&<ü+1\U0001d4a6'


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("".join(f"\\u{ord(c):04x}" for c in KEY[:-1]) + "\\ud835\\udca6", id="u"),
        pytest.param("\\u0073k" + KEY[2:], id="one-of-them"),
        pytest.param(json.dumps(json.dumps(KEY))[3:-3], id="json-in-json"),
        pytest.param(json.dumps(KEY).replace("/", "\\/")[1:-1], id="slashes-of-php"),
        pytest.param("".join(f"\\x{b:02x}" for b in KEY.encode()), id="x"),
        pytest.param("".join(f"%{b:02X}" for b in KEY.encode()), id="percent"),
        pytest.param("".join(f"%25{b:02x}" for b in KEY.encode()), id="percent-twice"),
        pytest.param(html.escape(KEY), id="html"),
        pytest.param(html.escape(html.escape(KEY)), id="html-twice"),
        pytest.param("".join(f"&#{ord(c)};" for c in KEY), id="html-decimal"),
        pytest.param("".join(f"&#x{ord(c):X};" for c in KEY), id="html-hex"),
        pytest.param(KEY.encode().hex(), id="hex"),
        pytest.param(KEY.encode().hex().upper(), id="hex-upper"),
    ],
)
def test_a_key_is_masked_however_it_is_escaped(written):
    assert written != KEY
    assert redact(f"<{written}>", [KEY]) == "<[key]>"


def test_escapes_of_other_texts_stay():
    text = "100 % \\u0073ure &amp; %73 &#107; sk-"
    assert redact(text, [KEY]) == text
