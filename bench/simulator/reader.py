"""Bytes of a connection in, HTTP requests out. No IO; any cut of the bytes gives the same requests."""

from dataclasses import dataclass

import httptools

MOST_BODY = 32 * 1024 * 1024
MOST_HEAD = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One request, or why what was sent is none.

    Attributes:
        refusal: HTTP status, code and message; the connection can't be used afterwards.
        read_ns: When the read arrived that completed it.
        chunked: The client understands chunks (HTTP/1.1).
        keep_alive: The client wants to go on using the connection.
    """

    method: str = ""
    path: str = ""
    headers: dict[str, str]
    body: bytes = b""
    read_ns: int
    chunked: bool = True
    keep_alive: bool = False
    refusal: tuple[int, str, str] | None = None


class RequestReader:
    """Reads the requests of one connection, pipelined ones too.

    Attributes:
        wants_continue: The client waits for ``100 Continue`` before it sends the body; whoever
            answers that resets it.
    """

    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._ready: list[Incoming] = []
        self._read_ns = 0
        self._refused = False
        self.wants_continue = False
        self.on_message_begin()

    def feed(self, data: bytes, at_ns: int) -> list[Incoming]:
        """Return the requests that ``data`` completes.

        Args:
            data: Next bytes of the connection.
            at_ns: When they arrived.
        """
        if self._refused:
            return []
        self._read_ns = at_ns
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(400, "no_upgrade", "the simulator speaks HTTP/1.1 only")
        except httptools.HttpParserError as error:
            self._refuse(400, "bad_request", f"this is no HTTP request: {error}")
        self._head_bytes += 0 if self._in_body else len(data)
        if self._head_bytes > MOST_HEAD:
            self._refuse(431, "headers_too_large", f"request headers exceed {MOST_HEAD} bytes")
        ready, self._ready = self._ready, []
        return ready

    # ---- callbacks of httptools ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Start a request."""
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._head_bytes = 0
        self._in_body = False

    def on_url(self, url: bytes) -> None:
        """Take a piece of the request's target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one header; the last of equal names counts."""
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Note what the headers say about the body."""
        self._in_body = True
        declared = self._headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > MOST_BODY:
            self._refuse_body()
        elif self._headers.get("expect", "").lower() == "100-continue":
            self.wants_continue = True

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._body_bytes += len(body)
        if self._body_bytes > MOST_BODY:
            self._refuse_body()
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        """Hand over the request."""
        self._head_bytes = 0
        if not self._refused:
            self._ready.append(
                Incoming(
                    method=self._parser.get_method().decode("latin-1"),
                    path=self._url.decode("latin-1"),
                    headers=self._headers,
                    body=b"".join(self._body),
                    read_ns=self._read_ns,
                    chunked=self._parser.get_http_version() != "1.0",
                    keep_alive=self._parser.should_keep_alive(),
                )
            )

    def _refuse_body(self) -> None:
        self._refuse(413, "body_too_large", f"request body exceeds {MOST_BODY} bytes")

    def _refuse(self, status: int, code: str, message: str) -> None:
        if not self._refused:
            self._refused = True
            self._body.clear()
            refusal = (status, code, message)
            self._ready.append(Incoming(headers={}, read_ns=self._read_ns, refusal=refusal))
