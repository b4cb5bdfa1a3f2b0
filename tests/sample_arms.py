"""Runs of two arms for tests: figures given per pair, journal records made of them, no IO."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import msgspec

from bench.ledger import Ledger, collect
from bench.model.blocks import Block
from bench.model.journal_record import JournalRecord
from bench.model.load import ClientReading, Stage, StageBegun, StageDone
from bench.model.paired import Arm, Pairing, PairLevel
from bench.model.steps import Started, TrialDone
from bench.model.surroundings import Sample
from bench.model.target import Target
from bench.model.trial import Response, StreamChunk, Trial
from bench.paired.plan import paired_blocks
from tests.sample_documents import STREAM, footer, header, response, timing, trial

BASE = Target(id="m@direct", model="m", model_id="m", display_name="M, the upstream")
CHANGED = Target(id="m@gateway", model="m", model_id="m", display_name="M, the gateway")
Answer = Callable[[Stage, int], Response]
"""Stage and number of the request → what came back."""


def arms(*levels: PairLevel, **fields: Any) -> Pairing:
    """Return an overhead run's pairing."""
    return Pairing(
        kind="overhead",
        base=Arm(target_id=BASE.id, label="the upstream", url="http://127.0.0.1:1/v1/x"),
        changed=Arm(target_id=CHANGED.id, label="the gateway", url="http://127.0.0.1:2/v1/x"),
        levels=levels or (PairLevel(pairs=12, noise_pairs=6),),
        **fields,
    )


def streamed(ttft_ms: float, *, gap_ms: float = 10.0, chunks: int = 40, **fields: Any) -> Response:
    """Return an answer of so many chunks, one a read."""
    total = ttft_ms + gap_ms * (chunks - 1) + 1.0
    kept = tuple(
        StreamChunk(at_ms=ttft_ms + gap_ms * n, characters=8, kind="content", read=n + 2)
        for n in range(chunks)
    )
    times = timing(
        ttft_ms, total, itl_ms=(gap_ms,) * (chunks - 1), content_itl_ms=(gap_ms,) * (chunks - 1)
    )
    return response(
        times,
        **{
            "stream_chunks": kept,
            "body_bytes": 256 * chunks,
            "connection": "warm",
            "response_model": "m",
        }
        | fields,
    )


def even(added_ms: float = 5.0, *, noise_ms: float = 0.3, seed: int = 1, **fields: Any) -> Answer:
    """Return answers that take so much longer through the gateway, give or take chance."""
    random = Random(seed)

    def answer(stage: Stage, number: int) -> Response:
        place = stage.pair
        assert place is not None
        is_through = place.phase != "noise" and place.side == "changed"
        ttft = 50.0 + random.uniform(-noise_ms, noise_ms) + (added_ms if is_through else 0.0)
        return streamed(ttft, **fields)

    return answer


def arms_ledger(
    pairing: Pairing | None = None,
    answer: Answer | None = None,
    *,
    blocks: int | None = None,
    reading: ClientReading | None = None,
    samples: Iterable[Sample] = (),
    more: Callable[[list[JournalRecord]], None] = lambda _: None,
) -> Ledger:
    """Return the ledger of a run of two arms.

    Args:
        pairing: What was planned.
        answer: What came back.
        blocks: So many of them were measured; ``None`` = all.
        reading: Of this client, in every block.
        samples: Of the gateway's processes, from offset 0 of the first one.
        more: Changes the records before they are read.
    """
    pairing = pairing or arms()
    plan = paired_blocks(pairing, STREAM.id, seed=1)
    first = header((BASE, CHANGED), (STREAM,), plan=plan)
    config = msgspec.structs.replace(first.config, paired=pairing)
    records: list[JournalRecord] = [msgspec.structs.replace(first, config=config)]
    records += samples
    now_ms = 100.0
    for block in plan[:blocks]:
        records += _block(block, now_ms, answer or even(), reading or ClientReading())
        now_ms += 1_000.0
    if blocks is None:
        records.append(footer(offset_ms=now_ms))
    more(records)
    return collect(records)


def pairing_of(ledger: Ledger) -> Pairing:
    """Return what the run of ``ledger`` was to compare."""
    found = ledger.header.config.paired
    assert found is not None
    return found


def _block(
    block: Block, began_ms: float, answer: Answer, reading: ClientReading
) -> Iterable[JournalRecord]:
    stage = block.stage
    assert stage is not None
    where: dict[str, Any] = {"target_id": block.target_id, "case_id": block.case_id}
    yield StageBegun(stage=stage, offset_ms=began_ms, **where)
    target = BASE if block.target_id == BASE.id else CHANGED
    for number in range(1, (stage.requests or 1) + 1):
        came = answer(stage, number)
        made = _trial(target, stage, number, came, began_ms + number)
        yield Started(trial_id=made.id, stage=stage.number, offset_ms=made.started_offset_ms)
        yield TrialDone(trial=made)
    yield StageDone(
        number=stage.number,
        reason="requests",
        sent=stage.requests or 1,
        began_offset_ms=began_ms,
        sending_ended_offset_ms=began_ms,
        ended_offset_ms=began_ms + 900.0,
        client=reading,
        **where,
    )


def _trial(target: Target, stage: Stage, number: int, came: Response, began_ms: float) -> Trial:
    made = trial(
        target,
        STREAM,
        number,
        id=f"{target.id}|{STREAM.id}|s{stage.number}r{number}",
        response=came,
        stage=stage.number,
        started_offset_ms=began_ms,
        finished_offset_ms=began_ms + (came.timing.total_ms or 0.0),
        outcome="failed" if came.error else "completed",
    )
    return msgspec.structs.replace(made, evaluation=None)
