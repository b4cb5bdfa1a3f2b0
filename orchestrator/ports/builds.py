"""What is about to run, as files and git tell."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class BuildFacts(Protocol):
    """Looks at what is about to run."""

    def program(self, name: str, *, search_path: str, folder: Path) -> Path | None:
        """Find an executable as a shell in ``folder`` would; a Python by its name ``python3``."""
        ...

    def script_of(self, path: Path) -> tuple[str, ...]:
        """Return what a script (``#!``) stands for: interpreter, its options, the file it runs.

        A link or wrapper that a package manager of Node made stands for the file behind it.
        Empty for anything else than a script.
        """
        ...

    def is_file(self, path: Path) -> bool:
        """Say whether a regular file is there."""
        ...

    def build(self, worktree: Path, entry: Path | None) -> "Build":
        """Return commit, tree, difference and age of what will run; nothing raises."""
        ...

    def runs_main(self, node: Path) -> bool:
        """Say whether this Node starts a guarded ESM and a guarded CJS file through our shim."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What is running, as far as files and git tell; ``None`` = not known or no git."""

    entry_sha256: str | None = None
    commit: str | None = None
    tree: str | None = None
    branch: str | None = None
    is_dirty: bool | None = None
    diff_sha256: str | None = None
    """Of ``git diff HEAD``; ``None`` when clean or not known."""
    newer_source: str | None = None
    """A tracked file that is newer than the entry: what runs is an old build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    """One working tree of a repository, as ``git worktree list`` has it."""

    path: str
    branch: str | None = None
    """``None`` = detached, or not a git worktree at all."""
    is_gone: bool = False
    """Its folder was removed."""


class Worktrees(Protocol):
    """Asks git for working trees; no git, or no repository, is an empty answer."""

    def around(self, folder: str) -> tuple[Worktree, ...]:
        """Return every working tree of the repository that holds ``folder``."""
        ...

    def holding(self, folder: str) -> Worktree | None:
        """Return the nearest folder upward that is a working tree; its branch is not asked for."""
        ...

    def exists(self, folder: str) -> bool:
        """Say whether a folder is there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit of a repository."""

    sha: str
    """40 or 64 hex digits."""
    top: Path
    """Top of the working tree from which it was named; real path."""


class Checkouts(Protocol):
    """Working trees of a commit, beside the user's own; git's refusals come in git's words."""

    def find(self, folder: Path, name: str) -> Commit | str:
        """Return the commit that a name means in the repository of ``folder``, or why there is none."""
        ...

    def add(self, commit: Commit, place: Path) -> str | None:
        """Make a detached working tree of a commit; return why that did not work.

        No hook of the repository is run.
        """
        ...

    def remove(self, repository: Path, place: Path) -> None:
        """Remove a working tree that ``add`` made, whatever was built in it; nothing raises."""
        ...
