"""Working trees as git lists them. Looks only; it starts and changes nothing."""

import os
import subprocess
from pathlib import Path

from orchestrator.ports import Worktree

_GIT_S = 10.0


def parse_worktrees(listed: str) -> tuple[Worktree, ...]:
    """Read ``git worktree list --porcelain -z``: fields end in NUL, entries in an empty field."""
    found = []
    for entry in listed.split("\0\0"):
        fields = dict(_field(line) for line in entry.split("\0") if line)
        if fields.get("worktree") and "bare" not in fields:
            found.append(
                Worktree(
                    path=fields["worktree"],
                    branch=fields.get("branch", "").removeprefix("refs/heads/") or None,
                    is_gone="prunable" in fields,
                )
            )
    return tuple(found)


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(" ")
    return name, value


class GitWorktrees:
    """Asks the user's git."""

    def around(self, folder: str) -> tuple[Worktree, ...]:
        """Return every working tree of the repository that holds ``folder``."""
        try:
            done = subprocess.run(
                ["git", "worktree", "list", "--porcelain", "-z"],  # noqa: S607  # the user's git
                cwd=folder,
                capture_output=True,
                timeout=_GIT_S,
                check=True,
                env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            )
        except (OSError, subprocess.SubprocessError):  # no git, no repository, an older git
            return ()
        return parse_worktrees(done.stdout.decode(errors="surrogateescape"))

    def holding(self, folder: str) -> Worktree | None:
        """Return the nearest folder upward that is a working tree."""
        here = Path(folder)
        for one in (here, *here.parents):
            if (one / ".git").exists():
                return Worktree(path=str(one))
        return None

    def exists(self, folder: str) -> bool:
        """Say whether a folder is there."""
        return Path(folder).is_dir()
