"""What the leader and the process that drives Ray say to each other, over one socket pair.

MessagePack inside the frames of load processes. Orders and reports travel through unread.
"""

import asyncio
from typing import TypeVar

import msgspec

from bench.fleet.frames import framed, read_frame


class _Word(msgspec.Struct, frozen=True, kw_only=True):
    """Never written down."""


class Open(_Word, frozen=True, kw_only=True, tag="open"):
    """Join or start a cluster, place one actor for each setup, and tell it that."""

    address: str | None
    """Of a cluster; ``None`` = start one on this machine."""
    processors: float
    """That each actor asks of the cluster."""
    setups: dict[int, bytes]
    """By number of the load process: its first order, encoded."""
    shards: dict[int, str]
    """Where the records of each are collected on this machine."""
    secret_words: bytes
    """As in ``Equipment``."""

    def __repr__(self) -> str:  # type: ignore[explicit-override]  # typing.override came with 3.12
        """Leave the secret out of every message and traceback."""
        return f"Open({self.address}, {len(self.setups)} load processes)"


class Tell(_Word, frozen=True, kw_only=True, tag="tell"):
    """Hand an order on."""

    number: int
    word: bytes


class Close(_Word, frozen=True, kw_only=True, tag="close"):
    """End all actors and leave the cluster."""


class Place(_Word, frozen=True, kw_only=True):
    """Where an actor runs."""

    number: int
    pid: int
    host: str
    node: str
    """Id of the node in the cluster."""
    boot_id: str | None
    """Of its machine; ``None`` = not known there."""


class Placed(_Word, frozen=True, kw_only=True, tag="placed"):
    """Every actor stands where it was to stand."""

    places: tuple[Place, ...]


class Heard(_Word, frozen=True, kw_only=True, tag="heard"):
    """A report; the shard has what came before it."""

    number: int
    word: bytes


class Lost(_Word, frozen=True, kw_only=True, tag="lost"):
    """An actor is gone."""

    number: int
    how: str


class Refused(_Word, frozen=True, kw_only=True, tag="refused"):
    """The cluster can't be used; nothing runs."""

    message: str
    hint: str | None = None


ToBridge = Open | Tell | Close
FromBridge = Placed | Heard | Lost | Refused

_Said = TypeVar("_Said")


async def read_word(
    reader: asyncio.StreamReader, decoder: msgspec.msgpack.Decoder[_Said]
) -> _Said | None:
    """Return the next word; ``None`` when the other side is gone, also in the middle of one."""
    data = await read_frame(reader)
    return None if data is None else decoder.decode(data)


def frame(word: ToBridge | FromBridge) -> bytes:
    """Return a word as it is sent."""
    return framed(msgspec.msgpack.encode(word))
