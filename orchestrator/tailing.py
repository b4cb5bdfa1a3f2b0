"""Follow the log of a gateway until it ends."""

from collections.abc import Callable
from pathlib import Path

from orchestrator.events import Exit
from orchestrator.lifecycle import Machine, exit_of, hold_verified
from orchestrator.records import GatewayRecord

_LOOKS_EVERY_S = 0.25
_LOOKS_BACK_BYTES = 256 * 1024


def follow(
    machine: Machine, record: GatewayRecord, *, lines: int, emit: Callable[[str], None]
) -> Exit:
    """Hand over the last lines, then each new one, until the gateway ends; say how it did.

    Args:
        machine: The ports.
        record: Whose log.
        lines: How many of those that are there already.
        emit: Takes one line.

    Raises:
        NotVerified: The process may not be the gateway: its end could not be noticed.
    """
    path = Path(record.log)
    held = hold_verified(machine, record.identity)
    try:
        place = _emit_last(machine, path, lines, emit)
        while held is not None and not held.ended(_LOOKS_EVERY_S):
            place = _emit_new(machine, path, place, emit)
        _emit_new(machine, path, place, emit)
        return exit_of(machine, held, record)
    finally:
        if held is not None:
            held.close()


def _emit_last(machine: Machine, path: Path, lines: int, emit: Callable[[str], None]) -> int:
    begin = max(0, machine.log.size(path) - _LOOKS_BACK_BYTES)
    found, place = machine.log.since(path, begin)
    whole = found[1:] if begin else found  # the first one is the rest of a line
    for line in whole[-lines:]:
        emit(line)
    return place


def _emit_new(machine: Machine, path: Path, place: int, emit: Callable[[str], None]) -> int:
    while True:
        found, following = machine.log.since(path, place)
        for line in found:
            emit(line)
        if following <= place or not found:
            return following
        place = following
