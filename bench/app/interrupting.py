"""What Ctrl-C and SIGTERM do to a run, and what a person is told of it."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bench.runner import Control


@contextmanager
def interruptible(control: Control, say: Callable[[str], None]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM ask for an orderly end instead of tearing the loop down."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def interrupted(number: int) -> None:
        say(interruption_text(control, number))
        control.interrupt(number)

    for number in numbers:
        loop.add_signal_handler(number, interrupted, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def interruption_text(control: Control, signal_number: int) -> str:
    """Return what a person should know who interrupts now: what goes on, and how to end that too.

    Args:
        control: As it is before it takes the signal.
        signal_number: The signal.
    """
    count = len(control.flights)
    flights = "1 request in flight is" if count == 1 else f"{count} requests in flight are"
    if control.signal_number is not None:
        return f"interrupted again: {flights} cancelled; the reports are written"
    again = "a second Ctrl-C" if signal_number == signal.SIGINT else "a second signal"
    if count == 0:
        return "interrupted: nothing is in flight; the reports are written"
    it = "it" if count == 1 else "them"
    return f"interrupted: {flights} being finished, nothing further is sent; {again} cancels {it}"
