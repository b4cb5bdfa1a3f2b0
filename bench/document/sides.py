"""What the processes of a gateway used where only part of the requests went through it."""

from collections.abc import Iterable

import msgspec

from bench.ab.sides import side_of
from bench.document.resources import gateway_resources
from bench.ledger import Ledger
from bench.model.ab import AbFindings, AbSide
from bench.model.paired import Side
from bench.model.resources import GatewayResources
from bench.parts import Part


def with_resources(findings: AbFindings, ledger: Ledger) -> AbFindings:
    """Return the findings with what each side used."""
    sides = tuple(_with(one, ledger) for one in findings.sides)
    return msgspec.structs.replace(findings, sides=sides)


def _with(one: AbSide, ledger: Ledger) -> AbSide:
    parts = tuple(_of_side(ledger.parts, one.side))
    found = gateway_resources(parts, ledger.gateways.get(one.side))
    return one if found is None else msgspec.structs.replace(one, resources=_of(found, one.sent))


def through_gateway(ledger: Ledger) -> GatewayResources | None:
    """Return what the one gateway of a run used; ``None`` when nothing was sampled.

    In an overhead run the upstream is asked past it: only what went through counts.
    """
    found = gateway_resources(ledger.parts, ledger.gateway)
    pairing = ledger.header.config.paired
    if found is None or pairing is None:
        return found
    return _of(found, side_of(ledger, pairing, "changed").sent)


def _of(used: GatewayResources, sent: int) -> GatewayResources:
    """Share processor time out among the requests of one target: one process asks both."""
    each = None if used.cpu_ms is None or not sent else used.cpu_ms / sent
    return msgspec.structs.replace(used, requests=sent, cpu_ms_per_request=each)


def _of_side(parts: Iterable[Part], side: Side) -> Iterable[Part]:
    for part in parts:
        samples = tuple(sample for sample in part.samples if sample.side == side)
        yield Part(offset_ms=part.offset_ms, samples=samples, requests=part.requests)
