"""What the processes of each of two gateways used, from the samples of a run."""

from collections.abc import Iterable

import msgspec

from bench.document.resources import gateway_resources
from bench.ledger import Ledger
from bench.model.ab import AbFindings, AbSide
from bench.model.paired import Side
from bench.parts import Part


def with_resources(findings: AbFindings, ledger: Ledger) -> AbFindings:
    """Return the findings with what each side used."""
    sides = tuple(_with(one, ledger) for one in findings.sides)
    return msgspec.structs.replace(findings, sides=sides)


def _with(one: AbSide, ledger: Ledger) -> AbSide:
    parts = tuple(_of_side(ledger.parts, one.side))
    found = gateway_resources(parts, ledger.gateways.get(one.side))
    if found is None:
        return one
    # Requests of both sides go through one process: each side's share is known by its target.
    cpu_ms = found.cpu_ms
    each = None if cpu_ms is None or not one.sent else cpu_ms / one.sent
    own = msgspec.structs.replace(found, requests=one.sent, cpu_ms_per_request=each)
    return msgspec.structs.replace(one, resources=own)


def _of_side(parts: Iterable[Part], side: Side) -> Iterable[Part]:
    for part in parts:
        samples = tuple(sample for sample in part.samples if sample.side == side)
        yield Part(offset_ms=part.offset_ms, samples=samples, requests=part.requests)
