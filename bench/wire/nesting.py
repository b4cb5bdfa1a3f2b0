"""How deep JSON may nest that a stranger sent. Pure.

Decoders go down one call per level: 100,000 brackets end the reading, and a few hundred that were
read can't be read back from a record in which they stand some levels lower.
"""

from collections.abc import Iterator
from itertools import accumulate
from operator import add
from typing import Final

MOST_LEVELS: Final = 100
"""No answer that means anything comes near."""
_BRACKETS: Final = bytes.maketrans(b"[]{}", b"1010")
_ALL_ELSE: Final = bytes(set(range(256)) - set(b'[]{}"'))
_BLOCK_BYTES: Final = 1 << 20
_EIGHT: Final = tuple(
    tuple(accumulate(1 if bits >> place & 1 else -1 for place in range(7, -1, -1)))
    for bits in range(256)
)
"""Eight brackets as bits → the level after each of them."""
_CHANGE: Final = tuple(levels[-1] for levels in _EIGHT)
_PEAK: Final = tuple(max(levels) for levels in _EIGHT)


def is_too_deep(data: bytes) -> bool:
    """Say whether arrays and objects in JSON text nest in more than ``MOST_LEVELS`` levels.

    Linear in ``data``, and two counts where there are few brackets. Where a stranger sends tens of
    millions to keep the event loop busy, eight at a time are walked. Text that is no JSON has some
    depth too; whoever decodes it says what is wrong with it.
    """
    if data.count(b"[") + data.count(b"{") <= MOST_LEVELS:
        return False
    brackets = _brackets(data)
    brackets += b"0" * (-len(brackets) % 8)
    packed = int(brackets or b"0", 2).to_bytes(len(brackets) // 8, "big")
    before = accumulate(map(_CHANGE.__getitem__, packed), initial=0)
    return max(map(add, before, map(_PEAK.__getitem__, packed)), default=0) > MOST_LEVELS


def _brackets(data: bytes) -> bytes:
    """Return the brackets outside of texts: ``1`` opens, ``0`` closes."""
    if b"\\" in data:  # first the escaped backslashes: what then escapes a quote does
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Two quotes side by side leave what is inside and what is outside as it was.
    marks = data.translate(_BRACKETS, _ALL_ELSE).replace(b'""', b"")
    return b"".join(_outside(marks)) if b'"' in marks else marks


def _outside(marks: bytes) -> Iterator[bytes]:
    is_inside = False
    for begin in range(0, len(marks), _BLOCK_BYTES):
        parts = marks[begin : begin + _BLOCK_BYTES].split(b'"')
        yield from parts[is_inside::2]
        is_inside ^= len(parts) % 2 == 0
