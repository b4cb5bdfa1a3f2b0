"""What opening a connection raises, told apart."""

import ssl

import pytest

from bench.client.dial_failure import DialFailed, told_apart
from bench.client.tunnel import ProxyRefused


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (ConnectionRefusedError(), "connect_refused", "h:1 refused the connection"),
        (
            ConnectionResetError(104, "reset"),
            "connect_reset",
            "h:1 broke the connection off: reset",
        ),
        (TimeoutError(), "connect_timeout", "h:1 did not answer"),
        (OSError(101, "unreachable"), "connect_failed", "no connection to h:1: unreachable"),
        (OSError(), "connect_failed", "no connection to h:1: OSError"),
        (ssl.SSLError(1, "odd"), "tls_error", "no TLS connection to h:1: odd"),
        (ProxyRefused("answers HTTP 407"), "proxy_error", "it answers HTTP 407"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_each_failure_has_its_code_and_its_sentence(raised, code, said):
    with pytest.raises(DialFailed) as caught, told_apart("h:1"):
        raise raised
    assert (caught.value.code, str(caught.value)) == (code, said)
    assert caught.value.__cause__ is raised
