"""How deep JSON may nest that a stranger sent. Pure.

Decoders go down one call per level: 100,000 brackets end the reading, and a few hundred that were
read can't be read back from a record in which they stand some levels lower.
"""

import re
from itertools import accumulate
from typing import Final

MOST_LEVELS: Final = 100
"""No answer that means anything comes near."""
_TEXT: Final = re.compile(rb'"(?:[^"\\]++|\\.?)*+"?', re.DOTALL)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_STEPS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def is_too_deep(data: bytes) -> bool:
    """Say whether arrays and objects in JSON text nest in more than ``MOST_LEVELS`` levels.

    Linear in ``data``, and two counts where there are few brackets. Text that is no JSON has some
    depth too; whoever decodes it says what is wrong with it.
    """
    if data.count(b"[") + data.count(b"{") <= MOST_LEVELS:
        return False
    brackets = _TEXT.sub(b"", data).translate(None, _NO_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MOST_LEVELS
