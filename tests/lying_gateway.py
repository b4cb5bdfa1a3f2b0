"""A gateway that ignores what it is asked, one answer after the other, and says or hides it.

Its own program: `python -m tests.lying_gateway SCRIPT.json`. The script is a list of answers, served
in order; the last one serves all further requests. An answer has `headers`, `fields` (top level of
the last event), `delta` (inside its delta), and `like` (index of an answer that it repeats to the
letter: id, moment and text). It keeps each request in `SCRIPT.json.requests`, a JSON line each.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[1]
MODEL = "acme/writer-1"
USAGE = {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70}


@dataclass
class LyingGateway:
    """A running one, from the outside."""

    url: str
    requests_path: Path

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What it was sent: `headers` in lower case and `body`, in order."""
        return [json.loads(line) for line in self.requests_path.read_text().splitlines()]


@contextmanager
def lying_gateway(folder: Path, answers: Sequence[Mapping[str, Any]]) -> Iterator[LyingGateway]:
    """Run one as a process until the block ends."""
    script = folder / "script.json"
    script.write_text(json.dumps(list(answers)))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.lying_gateway", str(script)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        assert process.stdout is not None
        yield LyingGateway(
            url=process.stdout.readline().strip(),
            requests_path=script.with_suffix(".json.requests"),
        )
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE_S)


def _events(number: int, answer: Mapping[str, Any], model: str) -> Iterator[bytes]:
    told = answer.get("like", number)
    head = {"id": f"gen-{told}", "created": 1_790_000_000 + told, "model": model}
    text = f"answer number {told} "
    for word in (text * 4).split():
        delta = {"choices": [{"index": 0, "delta": {"content": f"{word} "}}]}
        yield json.dumps({**head, **delta}).encode()
    last = {"choices": [{"index": 0, "delta": answer.get("delta", {}), "finish_reason": "stop"}]}
    yield json.dumps({**head, **last}).encode()
    usage = {**USAGE, **answer.get("usage", {})}
    yield json.dumps({**head, "choices": [], "usage": usage, **answer.get("fields", {})}).encode()
    yield b"[DONE]"


def _handler(script: Path) -> type[BaseHTTPRequestHandler]:
    answers = json.loads(script.read_text())
    kept = script.with_suffix(".json.requests").open("a")
    numbers = iter(range(1_000_000))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(404)
            self.send_header("content-length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            named = {name.lower(): value for name, value in self.headers.items()}
            kept.write(json.dumps({"headers": named, "body": body}) + "\n")
            kept.flush()
            number = next(numbers)
            answer = answers[min(number, len(answers) - 1)]
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            for name, value in {
                "x-request-id": f"req-{number}",
                **answer.get("headers", {}),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            for event in _events(number, answer, answer.get("model", body["model"])):
                self.wfile.write(b"data: " + event + b"\n\n")
                self.wfile.flush()
            self.close_connection = True

        def log_message(self, *_: object) -> None:  # type: ignore[explicit-override]
            """Say nothing."""

    return Handler


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(Path(sys.argv[1])))
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
