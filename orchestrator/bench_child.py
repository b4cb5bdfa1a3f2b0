"""The measuring process as a child: started with the line to it, followed to its end.

It has a process group of its own, so that a Ctrl-C reaches it once and in our order. Only where it
has to ask a person something does it get the terminal, and then it gets Ctrl-C first-hand.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.link import JobLink, Message
from orchestrator.ports import Lock
from orchestrator.unseen import unseen

LINK_VARIABLE = "GWB_LINK_FD"
_TICK_S = 0.1
_READ = 65536
_LONGEST_OUTPUT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildEnd:
    """How the measuring process ended."""

    status: int
    """As ``subprocess`` has it: negative = the signal that killed it."""
    said: Mapping[str, Any] | None
    """Its ``--json`` object; ``None`` = it ended without one."""


class BenchChild:
    """One running measuring process.

    Args:
        words: What follows `python -m bench`.
        environment: The whole one, key included.
        folder: Working directory: where `.env` and results belong.
        link: The line to it.
        holds: On the gateways that it uses: it goes on without us, and so must these.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        link: JobLink,
        holds: Sequence[Lock],
    ) -> None:
        self._link = link
        self._output = b""
        told = {**environment, LINK_VARIABLE: str(link.child_descriptor)}
        with _stop_key_ignored(), unseen("bench", words, told) as command:
            self._process = subprocess.Popen(
                command.argv,
                executable=command.executable,
                cwd=folder,
                env=command.environment,
                pass_fds=(
                    command.descriptor,
                    link.child_descriptor,
                    *(one.descriptor for one in holds),
                ),
                stdout=subprocess.PIPE,
                process_group=0,
            )
        link.child_has_it()

    @property
    def pid(self) -> int:
        """Its PID, which is its process group too."""
        return self._process.pid

    def signal(self, number: int) -> None:
        """Pass a signal on; nothing happens when it has ended."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def follow(self, on_message: Callable[[Message], None]) -> ChildEnd:
        """Hand over its messages until it has ended."""
        assert self._process.stdout is not None  # noqa: S101  asked for with PIPE
        with selectors.DefaultSelector() as selector:
            selector.register(self._link, selectors.EVENT_READ)
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while self._process.poll() is None:
                self._turn(selector, on_message)
            while selector.get_map() and selector.select(0):
                self._turn(selector, on_message)
        self._process.stdout.close()
        return ChildEnd(status=self._process.returncode, said=_object(self._output))

    def end(self) -> None:
        """End it now, if it still runs; for the ways out that nobody planned."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _turn(
        self, selector: selectors.BaseSelector, on_message: Callable[[Message], None]
    ) -> None:
        for key, _ in selector.select(_TICK_S):
            if key.fileobj is self._link:
                for message in self._link.receive():
                    on_message(message)
                if self._link.is_closed:
                    selector.unregister(self._link)
            elif not self._read_output(key.fd):
                selector.unregister(key.fileobj)

    def _read_output(self, descriptor: int) -> bool:
        data = os.read(descriptor, _READ)
        self._output = (self._output + data)[-_LONGEST_OUTPUT:]
        return bool(data)


@contextmanager
def terminal_given_to(group: int) -> Iterator[None]:
    """Give a process group the terminal inside the context, if we have it ourselves.

    Without a terminal, or from the background, nothing is done.
    """
    if not _has_terminal():
        yield
        return
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a background group may take it back
    try:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(0, group)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, before)


def _has_terminal() -> bool:
    try:
        return os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


@contextmanager
def _stop_key_ignored() -> Iterator[None]:
    """Start a child that Ctrl-Z does not stop: its shell would not see it and hang."""
    before = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, before)


def _object(output: bytes) -> Mapping[str, Any] | None:
    """Read the one object of ``--json``: the last line that is one."""
    for line in reversed(output.splitlines()):
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and "exitCode" in said:
            return said
    return None
