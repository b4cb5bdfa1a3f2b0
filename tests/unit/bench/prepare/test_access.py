from pathlib import Path
from typing import Any

import pytest

from bench.authorities import Authorities
from bench.config import Place, load_config
from bench.endpoint import Reach
from bench.errors import BenchError, KeyMissing, Refused, UsageFault
from bench.prepare.access import Access, find_access, make_endpoint, read_body

ABROAD = {"api.example": ("192.0.2.1",), "here.example": ("127.0.0.1",)}


def access(
    folder: Path,
    environ: dict[str, str] | None = None,
    *,
    trusted: tuple[str, ...] = (),
    **flags: object,
) -> Access:
    config = load_config(flags, Place(folder=folder, environ=environ or {}))
    return find_access(config, trusted_hosts=trusted, resolve=lambda host, _: ABROAD.get(host, ()))


def test_the_key_becomes_a_header_and_its_name_is_kept(tmp_path):
    found = access(tmp_path, {"LLMGATEWAY_API_KEY": " k-123 "}, url="https://api.example")
    assert found.headers == (("Authorization", "Bearer k-123"),)
    assert found.key_variable == "LLMGATEWAY_API_KEY"
    assert found.notes[0] == "address: https://api.example/v1/chat/completions (flag)"
    assert "k-123" not in "".join(found.notes)


KEY = {"TEAM_KEY": "k-123456"}
VERSION = ("anthropic-version", "2023-06-01")
CARRIED = [
    pytest.param("https://api.anthropic.com", {}, ("x-api-key", "k-123456"), id="anthropic"),
    pytest.param("https://api.example", {}, ("Authorization", "Bearer k-123456"), id="a-gateway"),
    pytest.param(
        "https://notanthropic.com", {}, ("Authorization", "Bearer k-123456"), id="another-host"
    ),
    pytest.param(
        "https://api.example", {"key_header": "api-key"}, ("api-key", "k-123456"), id="typed"
    ),
    pytest.param(
        "https://api.anthropic.com",
        {"key_header": "authorization"},
        ("authorization", "Bearer k-123456"),
        id="typed-bearer",
    ),
]


@pytest.mark.parametrize(("url", "flags", "carried"), CARRIED)
def test_the_protocol_and_the_host_say_which_header_carries_the_key(tmp_path, url, flags, carried):
    found = access(tmp_path, KEY, url=url, api="messages", api_key_env="TEAM_KEY", **flags)
    assert found.endpoint.url == f"{url}/v1/messages"
    assert found.headers == (VERSION, carried)
    assert found.secrets == ("k-123456",)
    assert carried[0].lower() == "authorization" or carried[0] in found.notes[1]


def test_a_typed_version_is_the_one_that_is_sent(tmp_path):
    header = ("Anthropic-Version: 2027-01-01",)
    found = access(tmp_path, url="http://127.0.0.1:1", api="messages", header=header)
    assert found.headers == (("Anthropic-Version", "2027-01-01"),)


@pytest.mark.parametrize("name", ["x-api-key", "Authorization"])
def test_a_key_that_was_typed_as_a_header_is_the_only_one(tmp_path, name):
    environ = {**KEY, "LLM_GATEWAY_API_KEY": "k-other"}
    found = access(
        tmp_path,
        environ,
        url="https://api.anthropic.com",
        api="messages",
        header_env=(f"{name}=TEAM_KEY",),
    )
    assert found.headers == (VERSION, (name, "k-123456"))
    assert found.key_variable is None


def test_rules_about_keys_hold_whatever_header_carries_them(tmp_path):
    environ = {"LLM_GATEWAY_API_KEY": "k-prod-1"}
    with pytest.raises(Refused, match="production key"):
        access(tmp_path, environ, url="http://127.0.0.1:1", api="messages", key_header="x-api-key")


def test_the_path_of_another_protocol_is_a_usage_fault(tmp_path):
    with pytest.raises(UsageFault, match="the path of `--api messages`"):
        access(tmp_path, url="http://127.0.0.1:1/v1/messages")


def test_typed_and_secret_headers_go_along(tmp_path):
    found = access(
        tmp_path,
        {"TEAM_SECRET": "s-123"},
        url="https://api.example",
        header=("X-A: b",),
        header_env=("Authorization=TEAM_SECRET",),
    )
    assert found.headers == (("X-A", "b"), ("Authorization", "s-123"))
    assert found.key_variable is None
    assert found.secrets == ("s-123",)


def test_a_local_gateway_without_a_key_is_asked_without_one(tmp_path):
    found = access(tmp_path, url="http://127.0.0.1:1")
    assert found.headers == ()
    assert found.notes[1] == "key: none is sent, no variable holds one"


def test_no_key_means_none(tmp_path):
    environ = {"LLM_GATEWAY_API_KEY": "k-123"}
    assert access(tmp_path, environ, url="http://127.0.0.1:1", key=False).headers == ()


ENV = {"LLM_GATEWAY_API_KEY": "k-prod-1", "LOCAL_KEY": "k-local-1", "TEAM": "k-prod-1"}
REFUSALS = [
    pytest.param({"url": "http://127.0.0.1:1"}, "production key", id="production-key-here"),
    pytest.param({"url": "https://here.example"}, "production key", id="by-address"),
    pytest.param({"url": "http://api.example"}, "plain http", id="plain-http"),
    pytest.param(
        {"url": "http://127.0.0.1:1", "header": ("X-A: Bearer k-prod-1",), "key": False},
        "production key",
        id="typed-into-a-header",
    ),
    pytest.param(
        {"url": "http://127.0.0.1:1", "header_env": ("X-A=TEAM",), "key": False},
        "`TEAM` holds the same production key",
        id="secret-header",
    ),
    pytest.param(
        {"url": "https://api.example", "header": ("X-A: k-local-1",)},
        "local key",
        id="local-key-in-a-header-abroad",
    ),
]


@pytest.mark.parametrize(("flags", "said"), REFUSALS)
def test_a_key_that_belongs_elsewhere_is_refused_before_any_request(tmp_path, flags, said):
    with pytest.raises(Refused, match=said) as caught:
        access(tmp_path, ENV, **flags)
    assert caught.value.exit_code == 7
    assert "k-prod-1" not in caught.value.message


def test_an_address_from_a_dotenv_needs_trust(tmp_path):
    (tmp_path / ".env").write_text("BENCHMARK_API_URL=https://api.example\n")
    environ = {"LLM_GATEWAY_API_KEY": "k-prod-1"}
    with pytest.raises(Refused, match="BENCHMARK_API_URL names"):
        access(tmp_path, environ)
    assert access(tmp_path, environ, trusted=("api.example",)).key_variable
    with pytest.raises(Refused):
        access(tmp_path, environ, trusted=("other.example",))


MISSING: list[tuple[dict[str, object], type[BenchError], str]] = [
    ({}, UsageFault, "no address"),
    ({"url": "https://api.example"}, KeyMissing, "neither `LLM_GATEWAY_API_KEY` nor"),
    ({"url": "http://127.0.0.1:1", "api_key_env": "NOPE"}, KeyMissing, "`NOPE` is not set"),
    ({"url": "http://127.0.0.1:1", "header_env": ("A=NOPE",)}, KeyMissing, "`NOPE` is not set"),
]


@pytest.mark.parametrize(
    ("flags", "kind", "said"), MISSING, ids=["address", "default-key", "named-key", "header"]
)
def test_what_is_missing_is_named(tmp_path, flags, kind, said):
    with pytest.raises(kind, match=said):
        access(tmp_path, **flags)


REMOTE = {"TEAM": "k-123456", "HTTPS_PROXY": "http://me:pass-word@proxy.example:3128"}


def test_a_proxy_of_the_environment_is_used_and_named_without_its_password(tmp_path):
    found = access(tmp_path, REMOTE, url="https://api.example", api_key_env="TEAM")
    assert found.proxy is not None
    assert "proxy: http://proxy.example:3128 (`HTTPS_PROXY`)" in found.notes
    assert "pass-word" not in "".join(found.notes)
    assert {"k-123456", "pass-word"} <= set(found.secrets)
    assert found.hop.leaves  # nobody knows `proxy.example`: it may be anywhere


LOCAL = {"LOCAL_KEY": "local-123", "HTTP_PROXY": "http://proxy.example:3128"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "here.example"])
def test_the_environment_s_proxy_is_never_asked_for_this_machine(tmp_path, host):
    found = access(tmp_path, LOCAL, url=f"http://{host}:1", api_key_env="LOCAL_KEY")
    assert found.proxy is None


@pytest.mark.parametrize(
    ("environ", "flags"),
    [
        pytest.param(
            {"TEAM": "local-123", "LOCAL_KEY": "local-123"},
            {"proxy": "http://proxy.example:1"},
            id="local-key-to-a-remote-proxy",
        ),
        pytest.param({"TEAM": "k-1234"}, {"proxy": "http://proxy.example:1"}, id="plain-http"),
    ],
)
def test_a_proxy_elsewhere_takes_a_request_for_this_machine_away_from_it(tmp_path, environ, flags):
    with pytest.raises(Refused):
        access(tmp_path, environ, url="http://127.0.0.1:1", api_key_env="TEAM", **flags)


def test_a_typed_proxy_on_this_machine_may_stand_before_a_local_gateway(tmp_path):
    found = access(
        tmp_path,
        {"LOCAL_KEY": "local-123"},
        url="http://127.0.0.1:1",
        api_key_env="LOCAL_KEY",
        proxy="http://127.0.0.1:8080",
    )
    assert found.proxy is not None
    assert found.hop == Reach(stays=True, leaves=False)


def test_a_proxy_on_this_machine_makes_a_remote_endpoint_no_local_one(tmp_path):
    found = access(
        tmp_path,
        {"LLMGATEWAY_API_KEY": "k-123456"},
        url="https://api.example",
        proxy="http://127.0.0.1:8080",
    )
    assert (found.address.is_loopback, found.address.is_remote) == (False, True)
    assert found.hop == Reach(stays=True, leaves=False)


def test_what_a_dotenv_says_of_proxies_and_certificates_is_not_read(tmp_path):
    (tmp_path / ".env").write_text("HTTPS_PROXY=http://evil:1\nSSL_CERT_FILE=/evil.pem\n")
    found = access(tmp_path, {"TEAM": "k-123456"}, url="https://api.example", api_key_env="TEAM")
    assert found.proxy is None
    assert found.authorities == Authorities()


def test_http_2_without_tls_is_not_passed_on_by_a_proxy(tmp_path):
    flags: dict[str, Any] = {"url": "http://127.0.0.1:1", "http_version": "2"}
    with pytest.raises(UsageFault, match="HTTP/2 without TLS"):
        access(tmp_path, proxy="http://127.0.0.1:8080", **flags)
    assert access(tmp_path, proxy="socks5://127.0.0.1:1080", **flags).proxy is not None


def test_a_key_with_a_line_break_is_no_header(tmp_path):
    with pytest.raises(UsageFault, match="control characters") as caught:
        access(tmp_path, {"TEAM": "a\nb-secret"}, url="https://api.example", api_key_env="TEAM")
    assert "b-secret" not in caught.value.message


def test_the_body_file_is_read_or_named(tmp_path):
    place = Place(folder=tmp_path, environ={})
    (tmp_path / "b.json").write_bytes(b"{}")
    assert read_body(load_config({"body": "b.json"}, place)) == b"{}"
    assert read_body(load_config({}, place)) is None
    with pytest.raises(UsageFault, match=r"none\.json"):
        read_body(load_config({"body": "none.json"}, place))


def test_the_endpoint_speaks_the_run_s_dialect(tmp_path):
    from bench.model.run_config import RunConfig

    found = access(tmp_path, url="http://127.0.0.1:1")
    run = RunConfig(model_ids=("m",), url=found.endpoint.url, dialect="litellm", stream=False)
    endpoint = make_endpoint(run, found, body=b"{}")
    assert endpoint.dialect.name == "litellm"
    assert endpoint.raw_body == b"{}"
    assert not endpoint.stream
