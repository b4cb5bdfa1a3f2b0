"""What a run of many requests under load costs beside the requests: journal, ledger, summary, reports.

Synthetic records of 100-token answers go through the real code, each size in a process of its own.
Usage::

    python benchmarks/load_scale.py [--sizes 1000,10000,100000] [--tokens 100]

Prints one table in Markdown; a linear cost is the same microseconds per trial in every row.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.app.rendering import publish
from bench.document import build_document
from bench.journal import Journal, read_journal
from bench.model.blocks import Block
from bench.model.case import CaseInfo
from bench.model.header import Environment, Header
from bench.model.load import Stage, StageBegun, StageDone
from bench.model.run_config import RunConfig
from bench.model.steps import Started, TrialDone
from bench.model.target import Target
from bench.model.trial import Response, Timing, Trial, Usage

_STAGE = Stage(number=1, concurrency=64)
_CASE = CaseInfo(
    id="c",
    name="c",
    kind="performance",
    category="x",
    dimension="y",
    difficulty="easy",
    runs=1,
    text_hash="h",
)


def header() -> Header:
    """Return the header of a run of one stage."""
    block = Block(target_id="t", case_id="c", alone=True, concurrency=64, trials=(), stage=_STAGE)
    return Header(
        run_id="scale",
        started_at="2026-01-01T00:00:00.000Z",
        stem="scale",
        config=RunConfig(model_ids=("t",), url="http://127.0.0.1:1", slos=("itl.p99=50ms",)),
        targets=(Target(id="t", model="t", model_id="t", display_name="t"),),
        cases=(_CASE,),
        plan=(block,),
        plan_hash="h",
        environment=Environment(tool_version="0", python="3", host="h", system="s"),
    )


def trial(number: int, tokens: int) -> Trial:
    """Return the record of one answer, 64 in flight, 10 ms between tokens."""
    began = 16.0 * number
    gaps = tuple(10.0 + ((number * 7 + token) % 50) / 100 for token in range(tokens - 1))
    total = 50.0 + sum(gaps)
    timing = Timing(
        sent_ms=0.1,
        headers_ms=49.0,
        first_event_ms=49.5,
        first_content_ms=50.0,
        first_token_ms=50.0,
        last_token_ms=total,
        last_content_ms=total,
        total_ms=total + 0.2,
        tpot_ms=10.2,
        itl_ms=gaps,
        client_lag_ms=0.3,
        stamped_by="kernel",
    )
    return Trial(
        id=f"t|c|s1r{number}",
        target_id="t",
        case_id="c",
        run=number,
        seed=number,
        stage=1,
        started_offset_ms=began,
        finished_offset_ms=began + total + 0.2,
        outcome="completed",
        response=Response(
            status=200,
            finish_reason="stop",
            usage=Usage(prompt_tokens=30, completion_tokens=tokens),
            timing=timing,
            connection="warm",
        ),
    )


def peak_mb() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write(path: Path, size: int, tokens: int) -> float:
    """Write the journal; return the processor seconds that writing took, the making left out."""
    spent = 0
    with Journal.create(path, header()) as journal:
        journal.write(StageBegun(target_id="t", case_id="c", stage=_STAGE, offset_ms=0.0))
        for number in range(1, size + 1):
            made = trial(number, tokens)
            began = time.thread_time_ns()
            journal.write(Started(trial_id=made.id, stage=1, offset_ms=made.started_offset_ms))
            journal.write(TrialDone(trial=made))
            spent += time.thread_time_ns() - began
        ended = 16.0 * size + 2_000
        journal.write(
            StageDone(
                target_id="t",
                case_id="c",
                number=1,
                reason="requests",
                sent=size,
                began_offset_ms=0.0,
                sending_ended_offset_ms=ended,
                ended_offset_ms=ended,
            )
        )
    return spent / 1e9


def measure(size: int, tokens: int) -> None:
    """Print one row."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scale.jsonl"
        before = peak_mb()
        wrote_s = write(path, size, tokens)
        wrote_mb = peak_mb()
        megabytes = path.stat().st_size / 1e6
        began = time.process_time()
        ledger = read_journal(path)
        read_s, began = time.process_time() - began, time.process_time()
        document = build_document(ledger)
        summed_s, began = time.process_time() - began, time.process_time()
        published = publish(document, Path(folder), source=path, summary_width=100)
        reported_s = time.process_time() - began
        (series,) = document.summary.load_series
        if series.stages[0].attempted != size or published.faults:
            message = f"not all of {size} trials were reported: {published.faults}"
            raise SystemExit(message)
        per = 1e6 / size
        print(
            f"| {size:,} | {megabytes:.0f} | {wrote_s * per:.0f} | {read_s * per:.0f} | "
            f"{summed_s * per:.0f} | {reported_s * per:.0f} | {wrote_mb - before:.0f} | "
            f"{peak_mb():.0f} |",
            flush=True,
        )


def main() -> int:
    """Measure every size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--tokens", type=int, default=100)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(options.one, options.tokens)
        return 0
    print(f"Answers of {options.tokens} tokens; load average {os.getloadavg()[0]:.1f}.\n")
    print(
        "| trials | journal MB | write us/trial | read us/trial | sum up us/trial | report us/trial"
        " | grown while writing MB | peak MB |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for size in options.sizes.split(","):
        one = [sys.executable, __file__, "--one", size, "--tokens", str(options.tokens)]
        if subprocess.run(one, check=False, env={**os.environ, "PYTHONPATH": "."}).returncode:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
