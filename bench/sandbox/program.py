"""What the sandbox is asked to run, and what it says came of it. Pure.

A program is hostile: nothing in an ``Outcome`` but ``end``, ``duration_ns`` and the cut is a fact
of ours. Exit code, signal, output and files are what the program made of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from bench.errors import UsageFault
from bench.model.record import Record

Language = Literal["python", "javascript"]
End = Literal[
    "exited",
    "signalled",
    "wall_limit",
    "cpu_limit",
    "memory_limit",
    "process_limit",
    "file_limit",
    "output_limit",
    "refused",
]
SandboxLevel = Literal["full", "reduced", "none"]

_LONGEST_NAME = 200
_MOST_FILES = 1_000
_MOST_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one program may use. Reaching any of them ends it as a whole."""

    wall_s: float = 10.0
    """Seconds from its first instruction."""
    cpu_s: float = 10.0
    """Processor seconds of one process; all of them together are bounded by ``wall_s``."""
    memory_mb: int = 512
    """MiB, all processes and what they wrote together (each process alone at a reduced level)."""
    processes: int = 16
    """Processes and threads alive at once, the first one included."""
    file_mb: int = 16
    """MiB of one file; the whole folder holds four times as much."""
    output_bytes: int = 262_144
    """Bytes of standard output and standard error together."""

    def __post_init__(self) -> None:
        for name in ("wall_s", "cpu_s", "memory_mb", "processes", "file_mb", "output_bytes"):
            value = getattr(self, name)
            if not value > 0:
                message = f"a sandbox limit is above 0: `{name}` is {value}"
                raise UsageFault(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program to run once, in a folder of its own that starts with ``files`` and nothing else."""

    language: Language
    argv: tuple[str, ...]
    """Arguments after the interpreter: ``("driver.py",)``."""
    files: Mapping[str, bytes]
    """Relative POSIX path → content. The folder that holds them is the working directory."""
    stdin: bytes = b""
    limits: Limits = field(default_factory=Limits)
    collect: bool = False
    """Whether the files of the folder come back that it changed or added."""

    def __post_init__(self) -> None:
        for path in self.files:
            fault = path_fault(path)
            if fault:
                message = f"no file of a sandbox can be called `{path[:_LONGEST_NAME]}`: {fault}"
                raise UsageFault(message)
        if len(self.files) > _MOST_FILES:
            message = f"a sandbox takes up to {_MOST_FILES} files, not {len(self.files)}"
            raise UsageFault(message)
        size = sum(len(content) for content in self.files.values()) + len(self.stdin)
        if size > _MOST_BYTES:
            message = f"a sandbox takes up to {_MOST_BYTES} bytes of files and input, not {size}"
            raise UsageFault(message)
        if any("\0" in word for word in self.argv):
            raise UsageFault("an argument of a sandboxed program holds a NUL")


def path_fault(path: str) -> str | None:
    """Return why ``path`` can't be a file in the sandbox, or ``None``."""
    if path in ("", ".") or path != str(PurePosixPath(path)):
        return "write it without `.`, doubled or closing slashes"
    if path.startswith("/"):
        return "it is absolute"
    if ".." in path.split("/"):
        return "`..` leaves the folder"
    if "\0" in path or len(path.encode(errors="replace")) > _LONGEST_NAME:
        return f"a path is up to {_LONGEST_NAME} bytes without NUL"
    return None if path.isprintable() else "it holds characters that can't be shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a program ended, and what it left."""

    end: End
    exit_code: int | None
    """``None`` = no exit: a signal, a limit, or never started."""
    signal: str | None
    """``SIGSEGV``; set with ``signalled`` and with limits that the kernel enforces by a signal."""
    stdout: bytes
    stderr: bytes
    """With ``refused``: one sentence of ours, why nothing ran."""
    output_cut: bool
    """Whether there was more output than ``output_bytes``."""
    duration_ns: int
    """First instruction to last, without the making of the sandbox; 0 only with ``refused``."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Changed and new regular files by relative path, only when asked for."""
    setup_ns: int = 0
    """What making and clearing away the sandbox cost around that."""


class Protection(Record, frozen=True, kw_only=True):
    """One thing that hostile code is kept from, and by what."""

    id: Literal["network", "reading", "writing", "processes", "memory", "count", "syscalls", "kill"]
    held: bool
    how: str
    """``own network namespace without interfaces``; with ``held`` false: what is missing."""


class Protections(Record, frozen=True, kw_only=True):
    """What the sandbox of this machine holds, found by trying."""

    level: SandboxLevel
    """``full``: everything below is held. ``none``: nothing is run."""
    walls: Literal["namespaces", "bubblewrap", "landlock", "seatbelt"] | None
    """What separates the program from this machine; ``None`` at level ``none``."""
    items: tuple[Protection, ...]
    why: str | None = None
    """Why it is not ``full``: one sentence; ``None`` when it is."""


def refusal(protections: Protections, *, allow_reduced: bool) -> str | None:
    """Return why hostile code is not run here, or ``None`` when it may be.

    ``none`` is refused whatever a person allows: nothing would stand between it and this machine.
    """
    if protections.level == "full" or (protections.level == "reduced" and allow_reduced):
        return None
    return f"the sandbox of this machine is `{protections.level}`: {protections.why}"
