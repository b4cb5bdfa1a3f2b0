"""Batches of a shard: nothing twice, nothing lost, no word before its records."""

import asyncio
import itertools
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bench.cluster.outbox import Batch, Outbox


def pulled(outbox: Outbox, *, offset: int = 0, taken: int = 0) -> Batch:
    return asyncio.run(outbox.batch(offset=offset, taken=taken, wait_s=0.0))


def test_a_word_waits_until_what_was_written_before_it_was_pulled(tmp_path):
    shard = tmp_path / "s"
    outbox = Outbox(shard, most_bytes=4)
    shard.write_bytes(b"abcdef")
    outbox.put(b"word")
    first = pulled(outbox)
    assert (first.data, first.words) == (b"abcd", ())
    assert pulled(outbox, offset=4) == Batch(data=b"ef", words=(b"word",))


def test_a_batch_whose_answer_was_lost_is_the_same_again(tmp_path):
    shard = tmp_path / "s"
    outbox = Outbox(shard, most_bytes=100)
    shard.write_bytes(b"abc")
    outbox.put(b"one")
    assert pulled(outbox) == pulled(outbox)


def test_confirmed_words_are_not_said_again(tmp_path):
    outbox = Outbox(tmp_path / "s", most_bytes=100)
    outbox.put(b"one")
    outbox.put(b"two")
    assert pulled(outbox, taken=1).words == (b"two",)


def test_the_last_batch_is_the_one_after_which_nothing_is_left(tmp_path):
    shard = tmp_path / "s"
    outbox = Outbox(shard, most_bytes=2)
    shard.write_bytes(b"abc")
    outbox.put(b"bye")
    outbox.end()
    assert not pulled(outbox).is_last
    assert pulled(outbox, offset=2) == Batch(data=b"c", words=(b"bye",), is_last=True)


def test_records_are_fetched_while_nothing_is_said(tmp_path):
    shard = tmp_path / "s"
    shard.write_bytes(b"abc")
    assert pulled(Outbox(shard, most_bytes=100)).data == b"abc"


def test_a_shard_that_does_not_exist_yet_is_empty(tmp_path):
    assert pulled(Outbox(tmp_path / "none", most_bytes=100)) == Batch(data=b"", words=())


def test_a_word_ends_the_wait(tmp_path):
    async def talk() -> Batch:
        outbox = Outbox(tmp_path / "s", most_bytes=100)
        waiting = asyncio.ensure_future(outbox.batch(offset=0, taken=0, wait_s=60.0))
        await asyncio.sleep(0)
        outbox.put(b"now")
        return await waiting

    assert asyncio.run(talk()).words == (b"now",)


@given(
    steps=st.lists(st.one_of(st.binary(min_size=1, max_size=9), st.none()), max_size=30),
    most=st.integers(min_value=1, max_value=12),
    losses=st.lists(st.booleans(), max_size=40),
)
def test_whatever_answers_are_lost_all_comes_once_and_in_order(
    tmp_path_factory, steps, most, losses
):
    """Steps: bytes are written, ``None`` is a word that says how much had been written by then."""
    shard: Path = tmp_path_factory.mktemp("shard") / "s"
    outbox = Outbox(shard, most_bytes=most)
    written = b""
    for step in steps:
        if step is None:
            outbox.put(str(len(written)).encode())
        else:
            written += step
            shard.write_bytes(written)
    outbox.end()
    data, words = b"", 0
    for is_lost in itertools.chain(losses, itertools.repeat(False, 1_000)):
        batch = pulled(outbox, offset=len(data), taken=words)
        if is_lost:
            continue
        data += batch.data
        words += len(batch.words)
        assert all(int(word) <= len(data) for word in batch.words)
        if batch.is_last:
            break
    assert data == written
    assert words == steps.count(None)
