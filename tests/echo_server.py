"""A server that gives the key back in every place and spelling it can think of; and a look for it."""

import base64
import html
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

KEY = 'sk-echo/+"<&=%41~0123456789'
"""Has characters that each way of writing writes in another way."""

SPELLINGS: tuple[Callable[[str], str], ...] = (
    str,
    lambda key: quote(key, safe=""),
    lambda key: quote(quote(key, safe=""), safe=""),
    lambda key: base64.b64encode(key.encode()).decode(),
    lambda key: base64.b64encode(f"u:{key}".encode()).decode(),
    lambda key: base64.urlsafe_b64encode(f"xy{key}".encode()).decode(),
    lambda key: json.dumps(key)[1:-1],
    lambda key: "".join(f"\\u{ord(c):04x}" for c in key),
    html.escape,
    lambda key: "".join(f"&#{ord(c)};" for c in key),
    lambda key: key.encode().hex(),
)


def everything(key: str) -> str:
    """Return the key in all spellings."""
    return " | ".join(spell(key) for spell in SPELLINGS)


def found_in(text: str, key: str) -> list[str]:
    """Return how the key can be read out of ``text``: by undoing escapes, not by looking for forms."""
    readings = {"plain": text}
    for _ in range(2):
        for way, reading in list(readings.items()):
            readings |= {f"{way}, {name}": undo(reading) for name, undo in _UNDOING.items()}
    found = [name for name, reading in readings.items() if key in reading]
    digits = text.replace("-", "+").replace("_", "/")
    found += ["base64" for piece in _base64_pieces(key) if piece in digits]
    found += ["hex"] if key.encode().hex() in text.lower() else []
    return found


_UNDOING: dict[str, Callable[[str], str]] = {
    "percent": unquote,
    "html": html.unescape,
    "u": lambda text: re.sub(r"\\+u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text),
    "backslashes": lambda text: text.replace("\\", ""),
}


def _base64_pieces(key: str) -> list[str]:
    """Return what shows of the key in base64 at each place where it can begin, without its ends."""
    pieces = []
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + key.encode()).decode()
        pieces.append(coded[4:-4])
    return pieces


@dataclass
class EchoServer:
    """What happened."""

    api: str
    url: str = ""
    posts: int = 0
    on_command_lines: list[str] = field(default_factory=list)
    """Processes whose command line held the key while a request was here."""


def _stream(api: str, text: str) -> bytes:
    """Return a whole streamed answer whose every text is ``text``."""
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "note": text}
    call = {"index": 0, "id": text, "function": {"name": text, "arguments": json.dumps([text])}}
    events: list[dict[str, Any]]
    if api == "chat":
        head = {"id": text, "model": text, "system_fingerprint": text, "provider": text}
        half = len(text) // 2
        deltas: list[dict[str, Any]] = [{"content": text[:half]}, {"content": text[half:]}]
        deltas += [{"reasoning_content": text}, {"tool_calls": [call]}]
        events = [{**head, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        last = {"index": 0, "delta": {}, "finish_reason": "stop"}
        events.append({**head, "choices": [last], "usage": usage})
        return b"".join(_event(one) for one in events) + b"data: [DONE]\n\n"
    if api == "messages":
        message: dict[str, Any] = {
            "id": text,
            "model": text,
            "usage": {"input_tokens": 3, "note": text},
        }
        delta = {"type": "text_delta", "text": text}
        end = {"stop_reason": "end_turn", "stop_sequence": text}
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 2, "note": text}},
            {"type": "message_stop"},
        ]
    else:
        part = {"type": "output_text", "text": text}
        spoken: dict[str, Any] = {"type": "message", "id": text, "content": [part]}
        totals = {"input_tokens": 3, "output_tokens": 2, "note": text}
        whole = {"id": text, "model": text, "status": "completed", "output": [spoken]}
        events = [
            {"type": "response.created", "response": {"id": text, "model": text}},
            {"type": "response.output_text.delta", "output_index": 0, "delta": text},
            {"type": "response.completed", "response": {**whole, "usage": totals}},
        ]
    return b"".join(_event(one, named=True) for one in events)


def _event(content: dict[str, Any], *, named: bool = False) -> bytes:
    name = f"event: {content['type']}\n" if named else ""
    return f"{name}data: {json.dumps(content)}\n\n".encode()


def _answer(server: EchoServer, number: int, text: str) -> tuple[int, bytes]:
    """Return status and body of one of many ways to answer."""
    error = {"error": {"message": text, "type": text, "code": text}}
    whole = _stream(server.api, text)
    ways = (
        (200, whole),
        (500, json.dumps(error).encode()),
        (302, text.encode()),
        (200, _event({"type": "error", **error}, named=server.api != "chat")),
        (200, b"data: {" + text.encode() + b"\n\n"),
        (200, whole[: len(whole) // 2]),
        (503, b"<html>" + text.encode() * 40 + b"</html>"),
        (429, json.dumps(error).encode()),
    )
    return ways[number % len(ways)]


@contextmanager
def echo_server(api: str) -> Iterator[EchoServer]:
    """Serve on a free port of this machine until the block ends."""
    server = EchoServer(api=api)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            text = everything(self._key())
            data = [{"id": "m"}, {"id": text, "name": text, "owned_by": text}]
            self._send(200, json.dumps({"data": data}).encode())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            server.on_command_lines += _command_lines_with(self._key())
            status, body = _answer(server, server.posts, everything(self._key()))
            server.posts += 1
            self._send(status, body)

        def _key(self) -> str:
            sent = self.headers.get("authorization", "").removeprefix("Bearer ")
            return sent or self.headers.get("x-api-key", "")

        def _send(self, status: int, data: bytes) -> None:
            self.send_response_only(status)
            is_stream = status == 200 and not data.startswith(b'{"data"')
            self.send_header(
                "content-type", "text/event-stream" if is_stream else "application/json"
            )
            for number, name in enumerate(_HEADERS):
                spell = SPELLINGS[number % len(SPELLINGS)]
                self.send_header(name, f"{spell(self._key())} {self._key()}")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:  # type: ignore[explicit-override]
            """Say nothing."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    thread = threading.Thread(target=listener.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()


_HEADERS = (
    "x-request-id",
    "server",
    "via",
    "cf-ray",
    "x-served-by",
    "location",
    "x-llmgateway-provider",
    "x-litellm-model-id",
    "x-litellm-response-cost",
    "x-portkey-provider",
    "x-portkey-trace-id",
    "helicone-id",
    "retry-after",
    "set-cookie",
)


def _command_lines_with(key: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if key.encode() in words:
            found.append(path.parent.name)
    return found
