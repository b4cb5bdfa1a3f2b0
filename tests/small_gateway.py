"""The smallest gateway that nobody vouches for: a health page and plain JSON answers, one file.

Its own program: tests write its text into a worktree and have it started from there.
"""

from pathlib import Path

_TEXT = """
import http.server, json, os, time

ANSWER = {
    "id": "1",
    "model": "m",
    "choices": [{"index": 0, "message": {"content": "FINAL: x"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        healthy = self.path == "/health"
        self.reply(int(os.environ.get("STATUS", "200")) if healthy else 404, b"fine")

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        time.sleep(float(os.environ.get("DELAY_S", "0")))
        while os.path.exists(os.environ.get("HOLD_WHILE", "")):
            time.sleep(0.02)
        self.reply(200, json.dumps(ANSWER).encode())

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    port = int(os.environ["PORT"])
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def write_small_gateway(folder: Path, name: str = "gateway_entry.py") -> str:
    """Write its entry file and return the file's name."""
    (folder / name).write_text(_TEXT)
    return name
