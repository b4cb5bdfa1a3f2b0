"""What each of two gateways was, and which work was sent to it. Pure."""

from bench.ledger import Ledger
from bench.load.columns import VALID
from bench.model.ab import AbSide
from bench.model.paired import Pairing, Side


def side_of(ledger: Ledger, pairing: Pairing, side: Side) -> AbSide:
    """Return one side; what its processes used is added where samples are read."""
    arm = pairing.arm(side)
    own = [
        entry
        for entry in ledger.stages.entries
        if entry.begun.target_id == arm.target_id and entry.stage.pair is not None
    ]
    counted = sum(entry.columns.count() for entry in own)
    gateway = ledger.gateways.get(side)
    return AbSide(
        side=side,
        label=arm.label,
        build={} if gateway is None else gateway.build,
        exit=None if gateway is None else gateway.exit,
        requests=counted,
        failed=counted - sum(entry.columns.count(VALID) for entry in own),
        sent=sum(len(entry.columns.marks) + entry.columns.warmups for entry in own),
    )
