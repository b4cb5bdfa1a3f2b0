import pytest

from bench.proxies import Goal, Proxy, UnusableProxy, parse_proxy, proxy_for, typed_proxy

HTTPS = Goal(scheme="https", host="api.example", port=443)
HTTP = Goal(scheme="http", host="api.example", port=8080)
PROXY = {"HTTPS_PROXY": "http://proxy:3128"}


@pytest.mark.parametrize(
    ("goal", "environ", "found"),
    [
        (HTTPS, PROXY, "http://proxy:3128"),
        (HTTPS, {"all_proxy": "socks5h://p"}, "socks5://p:1080"),
        (HTTPS, {"ALL_PROXY": "https://p"}, "https://p:443"),
        (HTTP, {"http_proxy": "p:81"}, "http://p:81"),
        (HTTP, {"HTTP_PROXY": "http://[::1]:81"}, "http://[::1]:81"),
        (HTTPS, {"https_proxy": "http://small", "HTTPS_PROXY": "http://big"}, "http://small:80"),
        (HTTP, PROXY, None),
        (HTTPS, {}, None),
        (HTTPS, {"HTTPS_PROXY": " "}, None),
    ],
)
def test_the_scheme_s_variable_names_the_proxy(goal, environ, found):
    proxy = proxy_for(goal, environ, typed=None)
    assert (proxy and proxy.shown) == found


@pytest.mark.parametrize(
    ("exceptions", "host", "is_excepted"),
    [
        ("*", "api.example", True),
        ("api.example", "api.example", True),
        ("other, .example", "api.example", True),
        ("example", "api.example", True),
        ("*.example", "api.example", True),
        ("ample", "api.example", False),
        ("api.example:443", "api.example", True),
        ("api.example:80", "api.example", False),
        ("API.Example", "api.example.", True),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("fd00::/8", "fd00::1", True),
        ("[fd00::1]:443", "fd00::1", True),
        ("fd00::1", "fd00::1", True),
        (",, ", "api.example", False),
        (".", "api.example", False),
    ],
)
def test_no_proxy_names_domains_addresses_and_networks(exceptions, host, is_excepted):
    goal = Goal(scheme="https", host=host, port=443)
    found = proxy_for(goal, {**PROXY, "NO_PROXY": exceptions}, typed=None)
    assert (found is None) is is_excepted


def test_what_is_typed_is_above_the_environment_and_its_exceptions():
    environ = {**PROXY, "NO_PROXY": "*"}
    assert proxy_for(HTTPS, environ, typed="none") is None
    typed = proxy_for(HTTPS, environ, typed="http://typed:1")
    assert typed is not None
    assert (typed.shown, typed.given_by) == ("http://typed:1", "`--proxy`")


def test_name_and_password_are_kept_out_of_what_is_shown():
    proxy = parse_proxy("http://me%40home:p%3Aw@proxy:1", given_by="`X`")
    assert (proxy.user, proxy.password) == ("me@home", "p:w")
    assert proxy.shown == "http://proxy:1"
    assert proxy.authorization == "Basic bWVAaG9tZTpwOnc="
    assert proxy.secrets == ("p:w", "Basic bWVAaG9tZTpwOnc=")
    assert Proxy(scheme="http", host="h", port=1, given_by="x").secrets == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ftp://secret@proxy", "kind `ftp`"),
        ("http://:secret@", "no host"),
        ("http://secret@proxy:99999", "no address"),
        ("http://secret@proxy:0", "no host and port"),
        ("http://secret@pröxy", "no host"),
        (f"http://{'secret' * 50}@proxy", "more than 255 bytes"),
    ],
)
def test_what_is_no_proxy_is_told_without_repeating_it(text, why):
    with pytest.raises(UnusableProxy, match=why) as caught:
        proxy_for(HTTPS, {"HTTPS_PROXY": text}, typed=None)
    assert "`HTTPS_PROXY`" in caught.value.message
    assert "secret" not in caught.value.message


def test_a_password_is_not_taken_from_the_command_line():
    assert typed_proxy(" NONE ") == "none"
    assert typed_proxy("proxy:1") == "http://proxy:1"
    with pytest.raises(ValueError, match="not into the command line"):
        typed_proxy("http://me:pw@proxy")
    with pytest.raises(ValueError, match="is needed"):
        typed_proxy("gopher://x")
