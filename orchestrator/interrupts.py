"""What Ctrl-C and SIGTERM mean at each moment of a job: end the start, pass on, or hurry the stop.

Handlers run in the main thread between two steps of it; a step is abandoned only where it said so.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """A signal asked us to end; no step but cleaning up is begun any more."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


class Interrupts:
    """The signals that ask this process to end, while one job runs.

    Attributes:
        forward: Called with each signal's number before anything else.
        received: Numbers in order.
    """

    def __init__(self) -> None:
        self._raises = False
        self.forward: Callable[[int], None] | None = None
        self.received: list[int] = []

    @contextmanager
    def installed(self) -> Iterator["Interrupts"]:
        """Handle the signals inside the context; a signal that is ignored stays ignored."""
        before = {
            number: signal.signal(number, self._handle)
            for number in _WATCHED
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def abandoning(self) -> Iterator[None]:
        """Let a signal abandon what is done inside the context; elsewhere it is only noted.

        Raises:
            Interrupted: A signal came.
        """
        was, self._raises = self._raises, True
        try:
            yield
        finally:
            self._raises = was

    @property
    def exit_code(self) -> int | None:
        """128 + the first signal; ``None`` = none came."""
        return 128 + self.received[0] if self.received else None

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self.received.append(number)
        if self.forward is not None:
            self.forward(number)
        if self._raises:
            raise Interrupted(number)
