"""What opening a connection raises, as error codes and sentences."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from bench.client.exchange import EndCode
from bench.client.tunnel import ProxyRefused


class DialFailed(Exception):
    """No connection was made."""

    def __init__(self, code: EndCode, message: str) -> None:
        super().__init__(message)
        self.code: EndCode = code
        self.message = message


@contextmanager
def told_apart(where: str) -> Iterator[None]:
    """Map what the operating system and OpenSSL raise to error codes."""
    try:
        yield
    except ProxyRefused as error:
        raise DialFailed("proxy_error", f"it {error}") from error
    except ssl.SSLError as error:
        message = f"no TLS connection to {where}: {reason(error)}"
        raise DialFailed("tls_error", message) from error
    except ConnectionRefusedError as error:
        raise DialFailed("connect_refused", f"{where} refused the connection") from error
    except ConnectionError as error:
        message = f"{where} broke the connection off: {reason(error)}"
        raise DialFailed("connect_reset", message) from error
    except OSError as error:
        # TimeoutError is one too: the system's own, or the patience for one of several addresses.
        if isinstance(error, TimeoutError):
            raise DialFailed("connect_timeout", f"{where} did not answer") from error
        message = f"no connection to {where}: {reason(error)}"
        raise DialFailed("connect_failed", message) from error


def reason(error: Exception) -> str:
    """Return why, in the words of OpenSSL or of the system."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"
    # Only those that OpenSSL made have one.
    if isinstance(error, ssl.SSLError) and (named := getattr(error, "reason", None)):
        return str(named).replace("_", " ").lower()
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
