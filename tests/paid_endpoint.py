"""An endpoint that nobody vouches for: no list of models, plain JSON answers, every request kept."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = {
    "id": "1",
    "model": "m",
    "choices": [{"index": 0, "message": {"content": "FINAL: x"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}


@dataclass
class PaidEndpoint:
    """What was asked, and what is answered."""

    url: str = ""
    status: int = 200
    answer: Mapping[str, object] = field(default_factory=lambda: ANSWER)
    posts: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    gets: list[dict[str, str]] = field(default_factory=list)
    refusals: int = 0
    """Requests that are still refused with HTTP 429, to be sent again at once."""
    hold: Callable[[dict[str, Any]], object] = lambda _: None
    """Sees the body of each request and returns when it is to be answered."""


@contextmanager
def paid_endpoint(tls: ssl.SSLContext | None = None) -> Iterator[PaidEndpoint]:
    """Serve on a free port of this machine until the block ends, with TLS where it is given."""
    endpoint = PaidEndpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            endpoint.gets.append({name.lower(): value for name, value in self.headers.items()})
            self._answer(404, {"error": {"message": "no such path"}})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            named = {name.lower(): value for name, value in self.headers.items()}
            endpoint.posts.append((named, body))
            if endpoint.refusals > 0:
                endpoint.refusals -= 1
                self._answer(429, {"error": {"message": "too fast"}}, ("retry-after-ms", "1"))
                return
            endpoint.hold(json.loads(body))
            refusal = {"error": {"message": f"bad key {named.get('authorization')}"}}
            self._answer(endpoint.status, endpoint.answer if endpoint.status == 200 else refusal)

        def _answer(self, status: int, body: object, *more: tuple[str, str]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            for name, value in more:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:  # type: ignore[explicit-override]
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    endpoint.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
