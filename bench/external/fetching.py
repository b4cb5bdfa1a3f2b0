"""A suite's data from an address: once, in full, bounded."""

from urllib.parse import urlsplit

import httpx

from bench.errors import UsageFault

MAX_BYTES = 256 * 1024 * 1024
_TIMEOUT_S = 60.0
_REDIRECTS = 5


def fetch(url: str) -> bytes:
    """Return what ``url`` serves. Nothing secret is sent: no key, no header of the run.

    Raises:
        UsageFault: No answer, another status than 200, or more than ``MAX_BYTES``.
    """
    shown = _shown(url)
    try:
        with (
            httpx.Client(
                timeout=_TIMEOUT_S, follow_redirects=True, max_redirects=_REDIRECTS
            ) as client,
            client.stream("GET", url) as response,
        ):
            if response.status_code != httpx.codes.OK:
                message = f"{shown} answered HTTP {response.status_code}, not the data"
                raise UsageFault(message, hint="fetch the file yourself and name its path")
            return _body(response, shown)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        message = f"{shown} can't be fetched: {str(error) or type(error).__name__}"
        raise UsageFault(message, hint="fetch the file yourself and name its path") from error


def _body(response: httpx.Response, shown: str) -> bytes:
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        if len(data) > MAX_BYTES:
            message = f"{shown} serves more than {MAX_BYTES // 1024 // 1024} MiB"
            raise UsageFault(message, hint="is this the data file?")
    return bytes(data)


def _shown(url: str) -> str:
    """Return the address without user, password and query, which may hold a token."""
    parts = urlsplit(url)
    return f"`{parts.scheme}://{parts.hostname or ''}{parts.path}`"
