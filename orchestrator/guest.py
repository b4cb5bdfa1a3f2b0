"""A command that is not ours, run as our child: with our streams, and the terminal if we have it.

It leads a process group of its own and is the terminal's foreground, so that Ctrl-C and Ctrl-Z mean
it first, as under a shell. When it is stopped we stop too, and go on with it.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from orchestrator.bench_child import terminal_given_to
from orchestrator.errors import EntryMissing, ExecFailed
from orchestrator.ports import Held, Holder, Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestEnded:
    """It ended."""

    status: int
    """As ``subprocess`` has it: negative = the signal that ended it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestPaused:
    """It was stopped by a signal: Ctrl-Z, or it wants a terminal that it hasn't got."""


class Guest:
    """One foreign command that runs.

    Args:
        words: Program and arguments.
        environment: The whole one.
        holder: To signal its group safely, also after its own end.
        hold: On the gateway that it uses: it may go on without us.
        tell: Takes what happens to it; called in a thread of its own.

    Raises:
        ExecFailed: The system refused it.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str],
        holder: Holder,
        hold: Lock,
        tell: Callable[[GuestEnded | GuestPaused], None],
    ) -> None:
        self._tell = tell
        self._terminal = ExitStack()
        try:
            self._process = subprocess.Popen(
                list(words), env=dict(environment), pass_fds=(hold.descriptor,), process_group=0
            )
        except OSError as refused:
            said = refused.strerror or str(refused)
            raise ExecFailed("execve", words[0], refused.errno or 0, said) from refused
        # Our child: its PID is not given away before we have waited for it.
        self._held: Held | None = holder.hold(self._process.pid)
        self._take_turn()
        self._thread = threading.Thread(target=self._follow, name="guest", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        """Its PID, which is the number of its group too."""
        return self._process.pid

    def signal(self, number: int) -> None:
        """Signal its whole group; nothing happens when nobody of it is left."""
        if self._held is not None:
            self._held.send(number, group=True)

    def pause_with_it(self) -> None:
        """Give the terminal back and stop too, as the shell expects; go on once we may."""
        if not os.isatty(0):
            return  # whoever stopped it without a terminal will let it go on, too
        self._terminal.close()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._take_turn()

    def leave(self) -> None:
        """Take the terminal back; end the group if its leader still runs."""
        self._terminal.close()
        if self._process.returncode is None:
            self.signal(signal.SIGKILL)
        self._thread.join()
        if self._held is not None:
            self._held.close()

    def _take_turn(self) -> None:
        self._terminal = ExitStack()
        self._terminal.enter_context(terminal_given_to(self.pid))
        # It may have asked for the terminal a moment before it got it, and been stopped for that.
        self.signal(signal.SIGCONT)

    def _follow(self) -> None:
        while True:
            try:
                _, status = os.waitpid(self.pid, os.WUNTRACED)
            except ChildProcessError:  # somebody made the system reap our children by itself
                status = 0
            if not os.WIFSTOPPED(status):
                break
            self._tell(GuestPaused())
        ended = os.waitstatus_to_exitcode(status)
        self._process.returncode = ended
        self._tell(GuestEnded(status=ended))


def require_program(name: str, found: str | None) -> str:
    """Return where a program is.

    Raises:
        EntryMissing: It is nowhere.
    """
    if found is None:
        raise EntryMissing("program", name, hint="install it, or give its full path")
    return found
