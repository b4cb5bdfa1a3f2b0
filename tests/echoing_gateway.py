"""A gateway before the simulator that knows its client's key and tells it wherever it can.

In answers, headers and errors, and at last in the error it dies of; there it tells the client's other
secret header and its proxy's password too. It also looks who on the machine could read that key: in
whose environment and on whose command line it stands.
"""

import http.client
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.echo_server import SPELLINGS, everything

ENTRY = "from tests.echoing_gateway import main\n\nmain()\n"
POSTS = 7
"""After so many requests it dies while the next one waits."""
SEEN = "seen.json"
"""In its working directory: who had the key while requests were here."""
TEAM_HEADER = "x-team"
_EVERY_THIRD_FAILS = 3
_lock, _doom = threading.Lock(), threading.Event()
_posts, _keys, _seen = [0], ["", ""], {"environ": dict[str, str](), "cmdline": dict[str, str]()}


def main() -> None:
    """Serve until the last request, then die of an error that holds the key."""
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.excepthook = _say_little
    _doom.wait()
    password = unquote(urlsplit(os.environ["HTTPS_PROXY"]).password or "")
    message = f"no credit for {' '.join(map(everything, (*_keys, password)))}"
    raise LookupError(message)


def _say_little(kind: type[BaseException], *_: object) -> None:
    sys.stderr.write(f"died of {kind.__name__}\n")


def readers_of(key: str, name: str) -> dict[str, str]:
    """Return each process in whose `/proc` file the key stands, with its command line."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if key.encode() in (folder / name).read_bytes():
                found[folder.name] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it ended, or is another user's
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        status = 200 if self.path in {"/health", "/v1/models"} else 404
        text = everything(self._key()) if self._key() else "nobody"
        models = {"data": [{"id": "sim-ttft5-itl1-n8"}, {"id": text, "name": text}]}
        self._send(status, json.dumps(models).encode(), "application/json")

    def do_POST(self) -> None:
        body, key = self.rfile.read(int(self.headers["content-length"])), self._key()
        with _lock:
            _posts[0] += 1
            number = _posts[0]
            _keys[:] = key, self.headers[TEAM_HEADER]
            for name, before in _seen.items():
                before.update(readers_of(key, name))
            Path(SEEN).write_text(json.dumps(_seen))
        if number > POSTS:
            _doom.set()
            threading.Event().wait()
        if number % _EVERY_THIRD_FAILS == 0:
            error = {"error": {"message": everything(key), "code": key}}
            self._send(500, json.dumps(error).encode(), "application/json")
            return
        event = {"choices": [{"index": 0, "delta": {"content": everything(key)}}]}
        echo = f"data: {json.dumps(event)}\n\n: {everything(key)}\n\n".encode()
        self._send(200, echo + self._upstream(body), "text/event-stream")

    def _upstream(self, body: bytes) -> bytes:
        at = urlsplit(os.environ["ECHO_UPSTREAM"])
        line = http.client.HTTPConnection(at.hostname or "", at.port, timeout=60)
        token = {"authorization": f"Bearer {os.environ['ECHO_UPSTREAM_TOKEN']}"}
        line.request("POST", f"{at.path}/chat/completions", body, token)
        answer = line.getresponse()
        whole = answer.read()
        line.close()
        return whole

    def _key(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        for number, name in enumerate(("x-request-id", "server", "via", "x-served-by", "location")):
            self.send_header(name, SPELLINGS[number](self._key()))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
