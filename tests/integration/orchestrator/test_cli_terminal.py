"""What a person at a terminal is asked, and what their Ctrl-C does."""

import os
import select
import subprocess
import sys
import time
from typing import Self

import pytest

from tests.command_line import CommandLine
from tests.patience import PATIENCE_S, until
from tests.small_gateway import write_small_gateway

pytestmark = pytest.mark.integration

# A terminal around the command; our pipe is its keyboard, our other pipe its screen.
_TERMINAL = """
import os, pty, sys
status = pty.spawn(sys.argv[1:])
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Terminal:
    """A command under a terminal of its own."""

    def __init__(
        self, command: CommandLine, *words: str, program: tuple[str, ...] = ("-m", "orchestrator")
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TERMINAL, sys.executable, *program, *words],
            cwd=command.cwd,
            env=command.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.screen = b""
        self.has_ended = False

    def type(self, keys: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(keys)
        self.process.stdin.flush()

    def wait_for(self, text: bytes) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.screen:
            assert time.monotonic() < deadline, self.screen.decode()
            assert self._read(), self.screen.decode()

    def interrupt(self) -> int:
        """Type Ctrl-C until the command ends.

        One that comes between the prompt and Python's read is only seen after the next key.
        """
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self.type(b"\x03")
            while self._read(patience_s=3.0):
                pass
            if self.process.poll() is not None or self.has_ended:
                break
        return self.process.wait(PATIENCE_S)

    def end(self) -> int:
        while self._read():
            pass
        return self.process.wait(PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # nothing when it has ended
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def _read(self, patience_s: float = PATIENCE_S) -> bool:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        readable, _, _ = select.select([descriptor], (), (), patience_s)
        data = os.read(descriptor, 65536) if readable else b""
        self.screen += data
        self.has_ended = bool(readable) and not data
        return bool(data)


@pytest.fixture
def command(tmp_path):
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    line = CommandLine(tmp_path / "home", folder)
    yield line
    assert line.records() == []
    assert line.leftovers() == []


MODEL = ("m", "--case", "seeded_grounded_unknown", "--no-stream", "--no-budget")


def describe(command):
    write_small_gateway(command.cwd)
    (command.cwd / "gateway-bench.toml").write_text("[gateway]\nentry = 'gateway_entry.py'\n")


def test_a_person_is_asked_for_trust_and_for_money_and_may_say_no(command):
    describe(command)
    with Terminal(command, "run", *MODEL) as terminal:
        terminal.wait_for(b"Trust this content? [y/N]:")
        assert b"entry = gateway_entry.py" in terminal.screen
        terminal.type(b"y\n")
        terminal.wait_for(b"Go on? [y/N]:")
        terminal.type(b"n\n")
        assert terminal.end() == 7
    assert not list(command.out.glob("*.json"))


def test_a_yes_at_the_terminal_runs_and_the_trust_was_remembered(command):
    describe(command)
    assert command("trust").code == 0
    with Terminal(command, "run", *MODEL) as terminal:
        terminal.wait_for(b"Go on? [y/N]:")
        terminal.type(b"y\n")
        assert terminal.end() == 0
    assert list(command.out.glob("*.json"))


def journals(command):
    return command.out.glob("*.jsonl")


def test_ctrl_c_at_the_terminal_ends_the_run_in_order(command):
    words = ("sim-ttft100-itl20-n20", "--case", "fixed_output_stream", "--runs", "200")
    with Terminal(command, "demo", *words) as terminal:
        terminal.wait_for(b"free run")
        until(lambda: any(b'"type":"trial"' in one.read_bytes() for one in journals(command)))
        terminal.type(b"\x03")  # once: a second one would mean something else
        assert terminal.end() == 130
    assert b"INCOMPLETE" in terminal.screen


def test_ctrl_c_at_the_question_for_money_stops_the_gateway(command):
    describe(command)
    assert command("trust").code == 0
    with Terminal(command, "run", *MODEL) as terminal:
        terminal.wait_for(b"Go on? [y/N]:")
        assert terminal.interrupt() == 130


def test_ctrl_c_at_the_question_for_trust_starts_nothing(command):
    describe(command)
    with Terminal(command, "run", *MODEL) as terminal:
        terminal.wait_for(b"Trust this content? [y/N]:")
        assert terminal.interrupt() == 130
    assert list(command.state.glob("*.log")) == []
