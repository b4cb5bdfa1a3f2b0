"""What opening a connection raises, as error codes and sentences."""

import errno
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bench.client.exchange import EndCode
from bench.client.tunnel import ProxyRefused


class DialFailed(Exception):
    """No connection was made."""

    def __init__(self, code: EndCode, message: str) -> None:
        super().__init__(message)
        self.code: EndCode = code
        self.message = message


_OPEN_FILES = "raise the limit on open files (`ulimit -n`) or lower `--concurrency`"
_MEMORY = "end what needs it, or lower `--concurrency`"
_OWN_LIMITS = {
    errno.EMFILE: _OPEN_FILES,
    errno.ENFILE: "the whole system has too many open files: end what holds them",
    errno.ENOBUFS: f"the system's memory for sockets is used up: {_MEMORY}",
    errno.ENOMEM: f"the system's memory is used up: {_MEMORY}",
    errno.EADDRNOTAVAIL: "no local port or address is free for it: keep connections open, or wait "
    "a minute until the system gives closed ones back",
}
"""Errors that say nothing of whoever was to be reached → what to do about this machine."""
_LOOK_UP_FILES = 4
"""Descriptors that a name's look-up needs: the resolver's files and sockets."""


def own_limit(error: OSError) -> DialFailed | None:
    """Return the failure where the client's own machine refused; ``None`` = it did not."""
    if isinstance(error, socket.gaierror):
        if error.errno == socket.EAI_MEMORY:
            error = OSError(errno.ENOMEM, error.strerror)
        else:
            # The resolver tells a file that it could not open as a name that does not exist.
            error = _no_room_for_files() or error
    advice = None if isinstance(error, socket.gaierror) else _OWN_LIMITS.get(error.errno or 0)
    if advice is None:
        return None
    return DialFailed("client_limit", f"this machine's own limit: {reason(error)}; {advice}")


def _no_room_for_files() -> OSError | None:
    with ExitStack() as stack:
        try:
            for _ in range(_LOOK_UP_FILES):
                stack.enter_context(socket.socket())
        except OSError as refused:
            return refused
    return None


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
        if (limit := own_limit(error)) is not None:
            raise limit from error
        # TimeoutError is one too: the system's own, or the patience for one of several addresses.
        if isinstance(error, TimeoutError):
            raise DialFailed("connect_timeout", f"{where} did not answer") from error
        message = f"no connection to {where}: {reason(error)}"
        raise DialFailed("connect_failed", message) from error


def reason(error: Exception) -> str:
    """Return why, in the words of OpenSSL or of the system."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message.rstrip('.')}"
    # Only those that OpenSSL made have one.
    if isinstance(error, ssl.SSLError) and (named := getattr(error, "reason", None)):
        return str(named).replace("_", " ").lower()
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
