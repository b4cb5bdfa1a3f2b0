"""What the simulator can do at most, and how late its timers are.

Usage: ``python benchmarks/simulator_ceiling.py [--repeats 5] [--json]``. Starts one simulator on
loopback, drives it from this process with a client that only counts, and prints medians with the
load average beside them. docs/simulator.md holds the figures of record.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter_ns
from typing import Any, cast

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.simulator_process import TOKEN, Simulator, running_simulator

EVENTS = 100
CEILING_REQUESTS = 500
CEILING_CONNECTIONS = 64
TTFT_MS = 50
TIMER_MODEL = f"sim-ttft{TTFT_MS}-itl10-n50"
TIMER_CONCURRENCY = (1, 64, 256)
SPREAD_S = 0.25
"""Over this time the streams of one timer run start, so that they do not tick together."""
_LAST_CHUNK = b"0\r\n\r\n"
_TOKEN_KINDS = {"content", "reasoning", "tool"}


class Counter:
    """One connection that asks again as soon as an answer has ended: an asyncio protocol."""

    def __init__(self, request: bytes, budget: list[int], done: asyncio.Event) -> None:
        self._request = request
        self._budget = budget
        self._done = done
        self._tail = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; ``ask`` begins."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Look for the last HTTP chunk, which may come in pieces."""
        self._tail = (self._tail + data[-5:])[-5:]
        if self._tail == _LAST_CHUNK:
            self._budget[1] -= 1
            self.ask()

    def eof_received(self) -> bool:
        """Close too."""
        return False

    def connection_lost(self, _exc: Exception | None) -> None:
        """End; a benchmark whose connection broke waits no longer."""
        self._done.set()

    def ask(self) -> None:
        """Send the next request, or end when all are answered."""
        if self._budget[1] <= 0:
            self._done.set()
        if self._budget[0] > 0:
            self._budget[0] -= 1
            self._transport.write(self._request)


def request_bytes(port: int, model: str) -> bytes:
    """Return one streaming request."""
    body = {"model": model, "stream": True, "messages": [{"role": "user", "content": "go"}]}
    data = json.dumps(body).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
        f"authorization: Bearer {TOKEN}\r\ncontent-length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


async def drive(
    port: int, model: str, *, connections: int, requests: int, spread_s: float = 0.0
) -> float:
    """Return the seconds that ``requests`` took over ``connections``, opened beforehand.

    Args:
        port: Of the simulator.
        model: What is asked for.
        connections: Streams at once.
        requests: In all.
        spread_s: The connections' first requests are spread evenly over this time.
    """
    loop = asyncio.get_running_loop()
    done, budget = asyncio.Event(), [requests, requests]
    counters = [Counter(request_bytes(port, model), budget, done) for _ in range(connections)]
    waiting = iter(counters)
    transports = []
    for _ in counters:
        transport, _protocol = await loop.create_connection(
            lambda: cast(asyncio.Protocol, next(waiting)), "127.0.0.1", port
        )
        transports.append(transport)
    begun = perf_counter_ns()
    for index, counter in enumerate(counters):
        loop.call_later(index * spread_s / connections, counter.ask)
    await asyncio.wait_for(done.wait(), 120)
    seconds = (perf_counter_ns() - begun) / 1e9
    for transport in transports:
        transport.close()
    return seconds


def ceiling(simulator: Simulator, model: str) -> dict[str, float]:
    """Return rate and CPU cost of undelayed answers."""
    process = psutil.Process(simulator.process.pid)
    before = sum(process.cpu_times()[:2])
    run = drive(simulator.port, model, connections=CEILING_CONNECTIONS, requests=CEILING_REQUESTS)
    seconds = asyncio.run(run)
    spent = sum(process.cpu_times()[:2]) - before
    return {"requestsPerS": CEILING_REQUESTS / seconds, "cpuUs": spent * 1e6 / CEILING_REQUESTS}


def lateness(simulator: Simulator, connections: int, spread_s: float) -> dict[str, float]:
    """Return how late tokens left, in microseconds, with ``connections`` streams at once."""
    seen = len(simulator.records())
    run = drive(
        simulator.port,
        TIMER_MODEL,
        connections=connections,
        requests=connections,
        spread_s=spread_s,
    )
    asyncio.run(run)
    records = simulator.wait_for_records(seen + connections)[seen:]
    late = [event[3] / 1000 for r in records for event in r["events"] if event[1] in _TOKEN_KINDS]
    first = [(r["first_content_ns"] - r["received_ns"]) / 1000 - TTFT_MS * 1000 for r in records]
    return {
        "lateP50Us": percentile(late, 50),
        "lateP99Us": percentile(late, 99),
        "ttftLateP50Us": percentile(first, 50),
        "ttftLateP99Us": percentile(first, 99),
    }


def percentile(values: list[float], percent: float) -> float:
    """Return the nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def medians(samples: list[dict[str, float]]) -> dict[str, Any]:
    """Return the median and range of each figure."""
    return {
        name: {
            "median": round(statistics.median(sample[name] for sample in samples), 1),
            "range": [round(f(sample[name] for sample in samples), 1) for f in (min, max)],
        }
        for name in samples[0]
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    result: dict[str, Any] = {"loadBefore": os.getloadavg(), "repeats": options.repeats}
    with tempfile.TemporaryDirectory() as folder, running_simulator(Path(folder)) as simulator:
        repeats = range(options.repeats)
        for shape in ("", "-hold"):
            model = f"sim-n{EVENTS}{shape}"
            ceiling(simulator, model)  # warms up both processes
            result[model] = medians([ceiling(simulator, model) for _ in repeats])
        for count in TIMER_CONCURRENCY:
            samples = [lateness(simulator, count, SPREAD_S) for _ in repeats]
            result[f"{count} streams"] = medians(samples)
        most = TIMER_CONCURRENCY[-1]
        result[f"{most} in step"] = medians([lateness(simulator, most, 0) for _ in repeats])
    result["loadAfter"] = os.getloadavg()
    if options.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        rows = value.items() if isinstance(value, dict) else [("", value)]
        for figure, numbers in rows:
            print(f"{name} {figure}: {numbers}")


if __name__ == "__main__":
    main()
