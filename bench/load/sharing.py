"""Which part of a stage is whose, where several processes send it together. Pure.

Everything follows from the stage and the share, so that no word is needed per request: senders and
arrivals go round in turn, and what is bounded by number is split as evenly as whole numbers allow.
"""

from array import array

import msgspec

from bench.model.fleet import Share
from bench.model.load import Stage

ALONE = Share(index=0, count=1)


def part_of(total: int, share: Share) -> int:
    """Return how many of ``total`` are the share's: the first ones get what doesn't divide."""
    return total // share.count + (share.index < total % share.count)


def turns_of(row: "array[int]", share: Share) -> "array[int]":
    """Return every ``count``-th entry from ``index`` on."""
    return row if share.count == 1 else row[share.index :: share.count]


def number_of(ordinal: int, share: Share) -> int:
    """Return the number in the whole stage of the share's own ``ordinal``, both from 1."""
    return (ordinal - 1) * share.count + share.index + 1


def share_of(stage: Stage, share: Share) -> Stage:
    """Return the stage with the bounds that hold for one share of it.

    Rates, ramps and traces stay whole: a share takes its turns out of the whole schedule. A cap of
    requests in flight below the number of shares leaves some of them nothing: there are never more
    shares than that (``most_shares``).
    """
    if share.count == 1:
        return stage
    return msgspec.structs.replace(
        stage,
        concurrency=None if stage.concurrency is None else part_of(stage.concurrency, share),
        requests=None if stage.requests is None else part_of(stage.requests, share),
        warmups=part_of(stage.warmups, share),
    )


def most_shares(stage: Stage, wanted: int) -> int:
    """Return into how many shares a stage can be divided, at most ``wanted`` and at least 1."""
    bounds = [bound for bound in (stage.concurrency, stage.requests) if bound is not None]
    return max(1, min([wanted, *bounds]))
