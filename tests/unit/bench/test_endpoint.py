import pytest

from bench.endpoint import Reach, parse_url, reach
from bench.errors import UsageFault

URLS = [
    pytest.param("https://h", "https://h/v1/chat/completions", id="host"),
    pytest.param("https://h/", "https://h/v1/chat/completions", id="host-with-slash"),
    pytest.param("HTTP://h:8080/v1", "http://h:8080/v1/chat/completions", id="base"),
    pytest.param("https://h/openai/v1/", "https://h/openai/v1/chat/completions", id="base-deeper"),
    pytest.param("https://h/v1beta/", "https://h/v1beta/chat/completions", id="beta-base"),
    pytest.param("https://h/v1/chat/completions", "https://h/v1/chat/completions", id="full"),
    pytest.param("http://[::1]:9/v1", "http://[::1]:9/v1/chat/completions", id="ipv6"),
    pytest.param("https://h/v1?a=1", "https://h/v1/chat/completions?a=1", id="query-stays"),
]


@pytest.mark.parametrize(("typed", "url"), URLS)
def test_a_host_a_base_or_a_path_becomes_one_address(typed, url):
    found = parse_url(typed)
    assert found.url == url
    assert parse_url(url).url == url
    assert found.models_url == url.replace("/chat/completions", "/models")


OTHERS = {"/chat/completions": "chat", "/responses": "responses"}


@pytest.mark.parametrize("typed", ["http://h", "http://h/v1/", "http://h/v1/messages"])
def test_another_protocol_has_another_path(typed):
    found = parse_url(typed, path="/messages", others=OTHERS)
    assert found.url == "http://h/v1/messages"
    assert found.models_url == "http://h/v1/models"


def test_the_path_of_another_protocol_is_not_asked_with_this_one():
    with pytest.raises(UsageFault) as caught:
        parse_url("http://h/v1/chat/completions", path="/messages", others=OTHERS)
    assert "`/chat/completions`, the path of `--api chat`" in caught.value.message
    assert caught.value.hint == "add `--api chat`, or end the address with `/v1`"


def test_a_path_that_tells_no_base_is_taken_as_it_is():
    found = parse_url("https://h/deployments/x/complete")
    assert found.url == "https://h/deployments/x/complete"
    assert found.models_url is None
    assert found.port == 443


FAULTS = [
    pytest.param("127.0.0.1:4001", "write `http://127.0.0.1:4001`", id="loopback-no-scheme"),
    pytest.param("localhost:4001/v1", "write `http://localhost:4001/v1`", id="localhost"),
    pytest.param("api.example/v1", "write `https://api.example/v1`", id="remote-no-scheme"),
    pytest.param("ftp://h", None, id="other-scheme"),
    pytest.param("https://", None, id="no-host"),
    pytest.param("https://h:99999", None, id="port-too-high"),
    pytest.param("https://h:0", None, id="port-zero"),
    pytest.param("https://h/#x", None, id="fragment"),
    pytest.param("https://h i/v1", None, id="blank"),
    pytest.param("https://h\ni/v1", None, id="line-break"),
    pytest.param(
        "https://u:secret@h",
        "keep secrets out of the command line: `--header-env Authorization=VARIABLE`",
        id="password",
    ),
]


@pytest.mark.parametrize(("typed", "hint"), FAULTS)
def test_what_is_no_address_is_a_usage_fault(typed, hint):
    with pytest.raises(UsageFault) as caught:
        parse_url(typed)
    assert caught.value.hint == hint
    assert "secret@" not in caught.value.message


REACHES = [
    pytest.param("localhost", (), (True, False), id="localhost-by-name"),
    pytest.param("gateway.localhost", ("192.0.2.1",), (True, False), id="localhost-below"),
    pytest.param("127.9.9.9", (), (True, False), id="loopback-address"),
    pytest.param("0.0.0.0", (), (True, False), id="unspecified"),  # noqa: S104  no binding
    pytest.param("::ffff:127.0.0.1", (), (True, False), id="mapped"),
    pytest.param("h.example", ("127.0.0.1",), (True, False), id="name-for-loopback"),
    pytest.param("h.example", ("::1", "192.0.2.1"), (True, True), id="name-for-both"),
    pytest.param("h.example", ("192.0.2.1",), (False, True), id="name-abroad"),
    pytest.param("h.example", (), (False, True), id="name-nobody-knows"),
    pytest.param("2130706433", ("127.0.0.1",), (True, False), id="decimal-loopback"),
]


@pytest.mark.parametrize(("host", "addresses", "wanted"), REACHES)
def test_where_a_host_leads_is_decided_by_its_addresses(host, addresses, wanted):
    stays, leaves = wanted
    assert reach(host, addresses) == Reach(stays=stays, leaves=leaves)


@pytest.mark.parametrize(
    ("judged", "address", "is_allowed"),
    [
        pytest.param((True, False), "127.0.0.9", True, id="here-stays-here"),
        pytest.param((True, False), "192.0.2.1", False, id="here-went-away"),
        pytest.param((False, True), "192.0.2.1", True, id="away-stays-away"),
        pytest.param((False, True), "::ffff:127.0.0.1", False, id="away-came-here"),
        pytest.param((True, True), "::1", True, id="both-were-judged"),
    ],
)
def test_only_what_was_judged_is_connected_to(judged, address, is_allowed):
    stays, leaves = judged
    assert Reach(stays=stays, leaves=leaves).allows(address) is is_allowed
