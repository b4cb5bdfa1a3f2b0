"""One GET through a proxy, by httpx: the proxy looks the name up. Only for those who name a proxy."""

import ssl
import sys
from collections.abc import Iterable

# httpx has a command line of its own, which loads `rich` and `pygments` where they are installed.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
import httpx  # noqa: E402  # after what it would load

from bench.catalogue.asking import TIMEOUT_S, Answered, Unanswered  # noqa: E402
from bench.proxies import Proxy  # noqa: E402

_MAX_BYTES = 64 * 1024 * 1024


def get_through(
    proxy: Proxy, url: str, *, headers: Iterable[tuple[str, str]], tls: ssl.SSLContext
) -> Answered:
    """Ask ``url`` through ``proxy``; a body is cut at 64 MB.

    Args:
        proxy: Its name, too, is looked up by httpx.
        url: Of the list.
        headers: With the key.
        tls: For https, at either end.

    Raises:
        Unanswered: No whole answer came.
    """
    auth = None if proxy.user is None else (proxy.user, proxy.password or "")
    spoken = tls if proxy.scheme == "https" else None
    try:
        # Nothing from the environment: a proxy would see the key of a loopback gateway too.
        with (
            httpx.Client(
                verify=tls,
                timeout=TIMEOUT_S,
                trust_env=False,
                proxy=httpx.Proxy(proxy.shown, auth=auth, ssl_context=spoken),
            ) as client,
            client.stream("GET", url, headers=list(headers)) as answer,
        ):
            names = {name.lower(): value for name, value in answer.headers.items()}
            return Answered(status=answer.status_code, headers=names, body=_read(answer))
    except ImportError as missing:  # of `socksio`, by httpx
        message = "the list can't be asked through a SOCKS proxy: `socksio` is not installed"
        raise Unanswered(message) from missing
    except httpx.HTTPError as fault:
        raise Unanswered(str(fault) or type(fault).__name__) from fault


def _read(answer: httpx.Response) -> bytes:
    body = bytearray()
    for part in answer.iter_bytes():
        body += part
        if len(body) > _MAX_BYTES:
            break
    return bytes(body)
