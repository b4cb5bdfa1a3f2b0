"""The deltas of one answer as they arrived: four columns, not one object per delta.

Columns of machine integers keep the garbage collector out of the measurement (one collection over
a hundred thousand small objects stops the event loop for tens of milliseconds).
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from bench.model.trial import ChunkKind

CONTENT: Final = 0
REASONING: Final = 1
TOOL: Final = 2
_KINDS: tuple[ChunkKind, ...] = ("content", "reasoning", "tool")


class Read(msgspec.Struct, frozen=True, gc=False):
    """The body bytes that one network read brought."""

    at_ns: int
    """Monotonic stamp of the read."""
    number: int
    """From 0."""
    body: bytes
    """Any piece of the body, cut anywhere; content coding undone."""


class Deltas:
    """Append-only; row ``i`` of every column belongs to delta ``i``, in order of arrival."""

    __slots__ = ("at_ns", "characters", "kinds", "reads")

    def __init__(self) -> None:
        self.at_ns = array("q")
        """Monotonic stamp of the network read that carried the delta."""
        self.characters = array("q")
        self.kinds = bytearray()
        """``CONTENT``, ``REASONING`` or ``TOOL``."""
        self.reads = array("q")
        """Index of that read, from 0."""

    def __len__(self) -> int:
        return len(self.at_ns)

    def append(self, at_ns: int, read: int, kind: int, characters: int) -> None:
        """Add one delta."""
        self.at_ns.append(at_ns)
        self.reads.append(read)
        self.kinds.append(kind)
        self.characters.append(characters)

    def extend(self, kind: int, characters: Sequence[int], reads: Sequence[Read]) -> None:
        """Add deltas of one kind, each with the read that brought it."""
        self.at_ns.extend([read.at_ns for read in reads])
        self.reads.extend([read.number for read in reads])
        self.kinds += bytes((kind,)) * len(characters)
        self.characters.extend(characters)

    def rows(self) -> Iterator[tuple[int, int, ChunkKind, int]]:
        """Yield ``(at_ns, characters, kind, read)`` per delta."""
        for at_ns, characters, kind, read in zip(
            self.at_ns, self.characters, self.kinds, self.reads, strict=True
        ):
            yield at_ns, characters, _KINDS[kind], read

    def of_kind(self, kind: int) -> list[int]:
        """Return the row numbers of one kind, ascending."""
        return [row for row, found in enumerate(self.kinds) if found == kind]
