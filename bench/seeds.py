"""Seeds and the random draws made from them: SHA-256 only, so the same on every machine and Python.

``random`` is not used: its generator is fixed, but the methods built on it may change between
Python versions, and an instance of a case must not.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

_Item = TypeVar("_Item")

SEED_BITS = 53
"""Seeds stay exact in readers that hold JSON numbers as doubles."""

_WORD_BYTES = 8


def derive_seed(base: int, group_or_case: str, run: int, warmup: bool) -> int:  # noqa: FBT001 - one of four coordinates of a seed, always given in this order
    """Return the seed of one trial; the target is no part of it, so all targets get one instance.

    Args:
        base: The run's base seed (``--seed``).
        group_or_case: The case's seed group, or its id where it has none.
        run: Number of the run, from 1; warm-ups are counted apart, also from 1.
        warmup: Whether the trial is a warm-up.

    Returns:
        An integer in 0 .. 2**53 - 1.
    """
    digest = _digest("trial", str(base), group_or_case, str(run), "warmup" if warmup else "run")
    return int.from_bytes(digest[:_WORD_BYTES], "big") >> (_WORD_BYTES * 8 - SEED_BITS)


def nonce(seed: int, *, label: str) -> str:
    """Return 16 hex digits that belong to ``seed`` and ``label``."""
    return _digest("nonce", label, str(seed)).hex()[:16]


class SeededStream:
    """Unbiased draws from one seed: SHA-256 over label, seed and a counter, 64 bits at a time.

    Args:
        seed: Any integer.
        label: What the draws are for; streams with other labels are independent.
    """

    def __init__(self, seed: int, *, label: str) -> None:
        self._key = _digest("stream", label, str(seed))
        self._count = 0

    def below(self, bound: int) -> int:
        """Return an integer in 0 .. ``bound`` - 1; 1 <= ``bound`` <= 2**64."""
        # Words above the last whole multiple of the bound would favour small results.
        limit = (1 << 64) - (1 << 64) % bound
        while (word := self._word()) >= limit:
            pass
        return word % bound

    def between(self, low: int, high: int) -> int:
        """Return an integer in ``low`` .. ``high``, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[_Item]) -> _Item:
        """Return one of ``items``, which must not be empty."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        """Return ``items`` in a drawn order."""
        return self.sample(items, len(items))

    def sample(self, items: Sequence[_Item], count: int) -> list[_Item]:
        """Return ``count`` different positions of ``items`` in a drawn order (Fisher-Yates)."""
        # Only what was moved is kept, so that few out of many cost no copy of the many.
        moved: dict[int, int] = {}
        chosen = []
        for position in range(count):
            other = position + self.below(len(items) - position)
            chosen.append(items[moved.get(other, other)])
            moved[other] = moved.get(position, position)
        return chosen

    def _word(self) -> int:
        block = hashlib.sha256(self._key + self._count.to_bytes(_WORD_BYTES, "big")).digest()
        self._count += 1
        return int.from_bytes(block[:_WORD_BYTES], "big")


def _digest(*parts: str) -> bytes:
    """Return the SHA-256 of ``parts``, each with its length, so that no two lists collide."""
    encoded = [part.encode() for part in parts]
    whole = b"".join([len(data).to_bytes(_WORD_BYTES, "big") + data for data in encoded])
    return hashlib.sha256(whole).digest()
