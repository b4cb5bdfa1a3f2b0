"""Start commands of ours so that their command line shows nothing of what they are told.

The other end is `bench.cli.unseen`: ``GWB_WORDS_FD`` names an open file with no name any more,
which holds the value that PATH really has and then each word, separated by zero bytes.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_VARIABLE = "GWB_WORDS_FD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """What to hand to ``subprocess``."""

    argv: tuple[str, ...]
    executable: str
    environment: Mapping[str, str]
    descriptor: int
    """The child has to inherit it."""


@contextmanager
def unseen(
    module: str, words: Sequence[str], environment: Mapping[str, str] | None = None
) -> Iterator[Unseen]:
    """Prepare `python3 -m MODULE WORDS…`; start it inside the context.

    Args:
        module: `-P` keeps a worktree's own module of this name out.
        words: What it is told.
        environment: The whole one; ``None`` = ours.
    """
    given = dict(os.environ if environment is None else environment)
    path, python = given.get("PATH", ""), Path(sys.executable)
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(b"\0".join(os.fsencode(word) for word in [path, *words]))
        file.seek(0)
        yield Unseen(
            # A bare name is looked up in PATH, which is how Python finds its virtual environment.
            argv=(python.name, "-P", "-m", module),
            executable=str(python),
            environment={
                **given,
                "PATH": f"{python.parent}:{path}",
                _VARIABLE: str(file.fileno()),
            },
            descriptor=file.fileno(),
        )
