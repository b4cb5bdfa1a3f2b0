"""The job's end of the line to the measuring process: JSON lines over one socket pair.

    job → bench   hello, incident, answer, sample, outcome
    bench → job   journal, ask, measured

``atNs`` is the monotonic clock, which all processes of a machine share. What can't be understood
is ignored: a newer bench may say more. A bench that is gone is no error here; its death is seen
elsewhere.
"""

import contextlib
import json
import os
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

_READ = 65536
_LONGEST_LINE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalMade:
    """The journal exists from now on."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request failed; was it the gateway?"""

    id: int
    trial: str
    code: str | None
    local_port: int | None
    side: str | None = None
    """Which of two gateways was asked; ``None`` = there is only one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Nothing more will be sent; the gateway may be stopped."""

    reason: str


Message = JournalMade | Asked | Measured


def parse(line: bytes) -> Message | None:
    """Read one line; ``None`` = nothing that is known here."""
    try:
        said = json.loads(line)
        match said:
            case {"type": "journal", "path": str(path)}:
                return JournalMade(path=path)
            case {"type": "ask", "id": int(number), "trial": str(trial)}:
                code, port, side = (said.get(one) for one in ("code", "localPort", "side"))
                return Asked(
                    id=number,
                    trial=trial,
                    code=code if isinstance(code, str) else None,
                    local_port=port if isinstance(port, int) else None,
                    side=side if isinstance(side, str) else None,
                )
            case {"type": "measured", "reason": str(reason)}:
                return Measured(reason=reason)
            case _:
                return None
    except ValueError:
        return None


class Line(Protocol):
    """What can be told to the measuring process."""

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message; silently nothing when nobody listens any more."""
        ...

    def offer(self, message: Mapping[str, Any]) -> bool:
        """Send what may get lost, without ever waiting."""
        ...


class SideLine:
    """The line for what is said of one of two gateways.

    Args:
        line: To the measuring process.
        side: Goes into each message.
    """

    def __init__(self, line: Line, side: str) -> None:
        self._line = line
        self._side = side

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        self._line.send({**message, "side": self._side})

    def offer(self, message: Mapping[str, Any]) -> bool:
        """Send what may get lost."""
        return self._line.offer({**message, "side": self._side})


class JobLink:
    """One socket pair: our end, and the descriptor that the child inherits.

    ``send`` may be called from any thread; ``receive`` from one.
    """

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._lock = threading.Lock()
        self._rest = b""
        self._unsent = b""
        self.is_closed = False
        """The child let go of its end."""

    @property
    def child_descriptor(self) -> int:
        """Number of the end that the child inherits."""
        return self._theirs.fileno()

    def fileno(self) -> int:
        """Number of our end, for a selector."""
        return self._ours.fileno()

    def child_has_it(self) -> None:
        """Close our copy of the child's end, so that its death closes the line."""
        self._theirs.close()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message; silently nothing when the child is gone."""
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError):
            waiting, self._unsent = self._unsent + data, b""
            self._ours.sendall(waiting)

    def offer(self, message: Mapping[str, Any]) -> bool:
        """Send what may get lost, without ever waiting.

        Returns:
            False when the child has not read what was offered before.
        """
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            if self._unsent and not self._push():
                return False
            self._unsent = data
            self._push()
            return True

    def _push(self) -> bool:
        """Send as much of the rest as fits; True = all of it."""
        try:
            sent = self._ours.send(self._unsent, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            self._unsent = b""
            return False
        self._unsent = self._unsent[sent:]
        return not self._unsent

    def receive(self) -> tuple[Message, ...]:
        """Return the messages of one read; call it when the descriptor is readable."""
        try:
            data = os.read(self._ours.fileno(), _READ)
        except OSError:
            data = b""
        if not data:
            self.is_closed = True
            return ()
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            self._rest = b""
        return tuple(message for line in lines if (message := parse(line)) is not None)

    def close(self) -> None:
        """Close what is open."""
        self._ours.close()
        self._theirs.close()
