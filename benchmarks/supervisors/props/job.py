"""What is done while the server is up: says who answered, then works until it is told to end."""

import http.client
import json
import os
import signal
import sys
import time
from pathlib import Path

NOTES, FINISH, PORT = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
LONGEST_S = 60


def note(what: str, **more: object) -> None:
    """Write down what happened, with the monotonic clock."""
    line = {"what": what, "pid": os.getpid(), "atNs": str(time.monotonic_ns()), **more}
    with NOTES.open("a") as file:
        file.write(json.dumps(line) + "\n")


def told(number: int, _: object) -> None:
    """End as a signal would, but say so."""
    note("job_told", signal=number)
    os._exit(128 + number)


def who_answers() -> object:
    """Return what the health page says; ``None`` = nobody answered."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=2)
    try:
        connection.request("GET", "/health")
        return json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return None


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, told)
note("job_up")
# A benchmark needs a moment before its first request.
time.sleep(0.3)
note("answered", by=who_answers())
deadline = time.monotonic() + LONGEST_S
while not FINISH.exists() and time.monotonic() < deadline:
    time.sleep(0.02)
note("job_done")
