"""Keep what was typed off our own command line: `pkill -f` of somebody else reads that one too.

A command of ours replaces itself, under the same PID, by `python3 -m …` and nothing else, before
anything heavy is imported or started. What was typed travels in an unlinked file that
``GWB_WORDS_FD`` names; whoever starts one of our commands may hand its words over in the same way.

Imports nothing but what Python has loaded anyway: every command pays for this module.
"""

import os
import sys
from collections.abc import Sequence

VARIABLE = "GWB_WORDS_FD"
"""Number of the open file. Its content: the value that PATH really has, then each word, all
separated by zero bytes, which neither may hold."""

_SCRIPT = "gateway-bench"
_MOST_BYTES = 1 << 22  # more than any system takes as arguments


def own_words(module: str) -> list[str]:
    """Return what was typed after the command's name; does not return in the process that shows it.

    Args:
        module: What `python3 -m` starts to come back here.
    """
    handed = os.environ.pop(VARIABLE, None)
    if handed is not None and (words := _taken(handed)) is not None:
        return words
    flags = plain_flags(sys.orig_argv, sys.argv, module)
    if flags is not None and sys.executable:
        _begin_again(module, flags)
    return sys.argv[1:]


def plain_flags(original: Sequence[str], seen: Sequence[str], module: str) -> list[str] | None:
    """Return Python's own options of this process; ``None`` = another program runs us.

    Args:
        original: ``sys.orig_argv``.
        seen: ``sys.argv``: the script's name and what was typed.
        module: The module that `-m` names where we are started by it.
    """
    head = list(original[1 : len(original) - len(seen) + 1])
    if head[-2:] == ["-m", module] and "-m" not in head[:-2]:
        return head[:-2]
    if head and head[-1] == seen[0] and seen[0].rpartition("/")[2] == _SCRIPT:
        # A script's folder is in the import path; with `-m` the working directory would be, which
        # is a worktree with modules of its own.
        return [*head[:-1], "-P"]
    return None


def _begin_again(module: str, flags: Sequence[str]) -> None:
    """Execute ourselves anew; come back only where the system refuses."""
    path = os.environ.get("PATH", "")
    folder, name = os.path.split(sys.executable)  # pathlib is not loaded yet
    try:
        words = [os.fsencode(word) for word in [path, *sys.argv[1:]]]
        descriptor = _unlinked(b"\0".join(words))
        # A bare name is looked up in PATH, which is how Python finds its virtual environment.
        environment = {**os.environ, "PATH": f"{folder}:{path}", VARIABLE: str(descriptor)}
        os.execve(sys.executable, [name, *flags, "-m", module], environment)  # noqa: S606  # no shell
    except OSError:
        return  # no room for the file, no more descriptors: working in sight is better than not


def _unlinked(content: bytes) -> int:
    """Return an inheritable file that has no name any more, at its beginning."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("words")
    else:  # pragma: no cover
        place = f"{os.environ.get('TMPDIR', '/tmp')}/.{os.getpid():x}"  # noqa: S108  # O_EXCL
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.unlink(place)  # noqa: PTH108  # pathlib is not loaded yet
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.set_inheritable(descriptor, True)  # noqa: FBT003  # the only way to say it
    return descriptor


def _taken(handed: str) -> list[str] | None:
    """Read the words and put PATH back; ``None`` = the number names no file of words."""
    try:
        descriptor = int(handed)
        content = os.read(descriptor, _MOST_BYTES)
        os.close(descriptor)
    except (ValueError, OSError):
        return None
    path, *words = (os.fsdecode(word) for word in content.split(b"\0"))
    if path:
        os.environ["PATH"] = path
    else:
        os.environ.pop("PATH", None)
    sys.argv[1:] = words
    return words
