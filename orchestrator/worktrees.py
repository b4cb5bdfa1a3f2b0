"""Which working tree a folder belongs to, by whole names of folders. Pure.

`/x/wt2` does not lie in `/x/wt`; of two that hold a folder, the inner one owns it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from orchestrator.ports import Worktree

_DELETED = " (deleted)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a gateway was started from."""

    worktree: str
    branch: str | None = None
    is_gone: bool = False


def undeleted(folder: str) -> tuple[str, bool]:
    """Return the path of a working directory, and whether the kernel says it was removed."""
    plain = folder.removesuffix(_DELETED)
    return plain, plain != folder


def owner_of(folder: str, worktrees: Iterable[Worktree]) -> Worktree | None:
    """Return the innermost working tree that holds a folder; ``None`` = none of these does."""
    path = PurePath(folder)
    holding = [one for one in worktrees if path.is_relative_to(one.path)]
    return max(holding, key=lambda one: len(PurePath(one.path).parts), default=None)


def place_of(worktree: str, worktrees: Iterable[Worktree], *, is_there: bool) -> Place:
    """Return a recorded working tree as it is now.

    Args:
        worktree: Its path.
        worktrees: What git lists.
        is_there: Whether its folder exists.
    """
    listed = next((one for one in worktrees if one.path == worktree), None)
    return Place(
        worktree=worktree,
        branch=None if listed is None else listed.branch,
        is_gone=not is_there or (listed is not None and listed.is_gone),
    )
