"""Working trees of a commit, made and removed by the user's git."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from orchestrator.ports import Commit

_GIT_S = 600.0
"""A checkout of a large repository takes minutes on a slow disk."""
_MADE_FOR_ANOTHER = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
)
"""Hooks and `git bisect run` export these: they would name another tree than ours."""


class GitCheckouts:
    """Asks the user's git."""

    def find(self, folder: Path, name: str) -> Commit | str:
        """Return the commit that a name means in the repository of ``folder``, or why there is none."""
        top = _git(folder, "rev-parse", "--show-toplevel")
        if top.returncode:
            return _said(top)
        # `--end-of-options`: a name that begins with a hyphen is a name.
        wanted = ("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
        sha = _git(folder, *wanted)
        if sha.returncode:
            return _said(sha)
        lines = sha.stdout.split()
        return Commit(sha=lines[-1], top=Path(top.stdout.rstrip("\n")).resolve())

    def add(self, commit: Commit, place: Path) -> str | None:
        """Make a detached working tree of a commit; return why that did not work."""
        # Hooks of the working directory would run for a commit that is another.
        silent = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")
        words = ("worktree", "add", "--quiet", "--detach", str(place), commit.sha)
        done = _git(commit.top, *silent, *words)
        return _said(done) if done.returncode else None

    def remove(self, repository: Path, place: Path) -> None:
        """Remove a working tree that ``add`` made, whatever was built in it; nothing raises."""
        _git(repository, "worktree", "remove", "--force", "--force", str(place))
        shutil.rmtree(place, ignore_errors=True)
        _git(repository, "worktree", "prune")


def _git(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run git to its end; that there is none, or that it takes too long, is an answer too."""
    command: Sequence[str] = ("git", *words)
    environ = {name: text for name, text in os.environ.items() if name not in _MADE_FOR_ANOTHER}
    try:
        return subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            stdin=subprocess.DEVNULL,
            timeout=_GIT_S,
            check=False,
            env={**environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as refused:
        return subprocess.CompletedProcess(command, 1, stdout="", stderr=str(refused))


def _said(done: "subprocess.CompletedProcess[str]") -> str:
    """Return git's last words, without its prefix."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    last = lines[-1] if lines else f"git ended with {done.returncode}"
    return last.removeprefix("fatal: ").removeprefix("error: ")
