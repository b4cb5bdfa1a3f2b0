"""Frames between the leader and the process that drives Ray."""

import asyncio

import msgspec
import pytest

from bench.cluster.words import (
    Close,
    FromBridge,
    Heard,
    Lost,
    Open,
    Place,
    Placed,
    Refused,
    Tell,
    ToBridge,
    frame,
    read_word,
)

OPEN = Open(
    address=None, processors=0.5, setups={1: b"{}"}, shards={1: "/s"}, secret_words=b"sk-secret"
)
PLACE = Place(number=1, pid=2, host="h", node="n", boot_id=None)


def read(data, kind):
    async def run():
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await read_word(reader, msgspec.msgpack.Decoder(kind))

    return asyncio.run(run())


@pytest.mark.parametrize("word", [OPEN, Tell(number=1, word=b"\x00\xff"), Close()])
def test_what_the_leader_says_comes_as_it_was(word):
    assert read(frame(word), ToBridge) == word


@pytest.mark.parametrize(
    "word",
    [
        Placed(places=(PLACE,)),
        Heard(number=1, word=b"x"),
        Lost(number=1, how="gone"),
        Refused(message="no"),
    ],
)
def test_what_the_bridge_says_comes_as_it_was(word):
    assert read(frame(word), FromBridge) == word


@pytest.mark.parametrize("length", [0, 2, 4, 9])
def test_a_frame_that_is_cut_is_an_end(length):
    assert read(frame(OPEN)[:length], ToBridge) is None


def test_no_message_that_names_the_order_to_begin_holds_the_secret():
    assert repr(OPEN) == "Open(None, 1 load processes)"
