"""How wrong the client's TTFT is, against the simulator's own log of what it sent when.

Both run on this machine and stamp the same monotonic clock. Usage::

    python benchmarks/client_accuracy.py [--reps 5] [--concurrency 1,16,64]

Prints one table in Markdown: per concurrency the median over repetitions of the p50 and p99 of

- TTFT error: the client's TTFT less the sender's (request read → first content sent). It holds the
  way there and back, both event loops, and the client's own work;
- receive lag: the client's stamp of a token less the sender's stamp of the same token;
- client lag: what the client itself reports as its event loop's worst lag.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.client.chat_client import HttpChatClient
from bench.client.endpoint import Endpoint
from bench.dialects import DIALECTS
from bench.model.case import ChatRequest, Message
from bench.model.target import Target
from bench.model.trial import Response
from bench.ports import Call
from bench.wire import PROTOCOLS

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.simulator_process import TOKEN, Simulator, running_simulator

TTFT_MS, ITL_MS, TOKENS = 50, 10, 100
MODEL = f"sim-ttft{TTFT_MS}-itl{ITL_MS}-n{TOKENS}"
PER_SLOT = {1: 12, 16: 6}
"""Requests of each slot in one repetition; others send 3. A p99 of few requests is their worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """One repetition, milliseconds."""

    ttft: list[float]
    receive: list[float]
    lag: list[float]


async def ask(client: HttpChatClient, slots: int, each: int) -> list[tuple[int, Response]]:
    """Send ``each`` requests one after another in every slot; slots start spread over one TTFT."""
    target = Target(id=MODEL, model=MODEL, model_id=MODEL, display_name=MODEL)
    message = Message(role="user", content="How late is it?")
    call = Call(target=target, request=ChatRequest(messages=(message,)), timeout_ms=60_000, tags={})

    async def slot(number: int) -> list[tuple[int, Response]]:
        await asyncio.sleep(TTFT_MS / 1000 * number / slots)
        return [await client.send(call) for _ in range(each)]

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(slot(number)) for number in range(slots)]
    return [answer for task in tasks for answer in task.result()]


async def repetition(simulator: Simulator, slots: int) -> Errors:
    """Warm the connections, measure, and compare with the log."""
    endpoint = Endpoint(
        url=f"{simulator.base_url}/chat/completions",
        headers=(("Authorization", f"Bearer {TOKEN}"),),
        stream=True,
        wire=PROTOCOLS["chat"],
        dialect=DIALECTS["plain"],
    )
    before = len(simulator.records())
    client = HttpChatClient(endpoint)
    try:
        await ask(client, slots, 1)
        answers = await ask(client, slots, PER_SLOT.get(slots, 3))
    finally:
        await client.close()
    records = simulator.wait_for_records(before + slots + len(answers))
    return compare(answers, {record["x_request_id"]: record for record in records})


def compare(answers: Sequence[tuple[int, Response]], records: dict[str, Any]) -> Errors:
    """Return the errors of the answers that came over a warm connection."""
    errors = Errors(ttft=[], receive=[], lag=[])
    for t0_ns, response in answers:
        timing, record = response.timing, records[response.request_id or ""]
        if response.error or response.connection != "warm" or timing.first_content_ms is None:
            continue
        sent = [at for at, kind, *_ in record["events"] if kind == "content"]
        truth_ms = (sent[0] - record["received_ns"]) / 1e6
        errors.ttft.append(timing.first_content_ms - truth_ms)
        errors.lag.append(timing.client_lag_ms or 0.0)
        errors.receive.extend(
            chunk.at_ms - (at - t0_ns) / 1e6
            for chunk, at in zip(response.stream_chunks, sent, strict=True)
        )
    return errors


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile by linear interpolation."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def row(slots: int, reps: Sequence[Errors], load: tuple[float, float]) -> str:
    """Return one line of the table."""
    cells = [
        f"{statistics.median(percentile(getattr(rep, name), percent) for rep in reps):+.2f}"
        for name in ("ttft", "receive", "lag")
        for percent in (50, 99)
    ]
    requests = sum(len(rep.ttft) for rep in reps)
    return f"| {slots} | {requests} | {' | '.join(cells)} | {load[0]:.1f}-{load[1]:.1f} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--concurrency", default="1,16,64")
    arguments = parser.parse_args()
    print(f"Truth: TTFT {TTFT_MS} ms, ITL {ITL_MS} ms, {TOKENS} tokens, warm connections.\n")
    print("| in flight | requests | TTFT error p50 | p99 | receive lag p50 | p99 "
          "| client lag p50 | p99 | load average |")  # fmt: skip
    print("|" + "---|" * 9)
    for slots in map(int, arguments.concurrency.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            before = os.getloadavg()[0]
            with running_simulator(Path(folder), "--any-model") as simulator:
                reps = [asyncio.run(repetition(simulator, slots)) for _ in range(arguments.reps)]
            print(row(slots, reps, (before, os.getloadavg()[0])), flush=True)


if __name__ == "__main__":
    main()
