"""Which repository a folder belongs to: one name for all its worktrees. Reads two small files."""

from pathlib import Path

_POINTER = "gitdir:"


def common_folder(git_root: Path | None) -> Path | None:
    """Return the folder that all worktrees of a repository share; ``None`` = there is none.

    Args:
        git_root: A folder that holds `.git`: a folder, or in a linked worktree a file that points
            to one whose `commondir` names the shared one (gitrepository-layout(5)).
    """
    if git_root is None:
        return None
    own = git_root / ".git"
    try:
        if own.is_dir():
            return own.resolve()
        text = own.read_text(encoding="utf-8").strip()
        if not text.startswith(_POINTER):
            return own.resolve()
        own = git_root / text.removeprefix(_POINTER).strip()
        shared = (own / "commondir").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return own.resolve()  # a submodule has no `commondir`: what it points to is its own
    return (own / shared).resolve()
