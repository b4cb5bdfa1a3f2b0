"""Lay the stand-in out as a built worktree: `dist/serve.js`, its chunks, a package, an env file."""

import shutil
import subprocess
from pathlib import Path

_APP = Path(__file__).parent / "app"


def build_standin(worktree: Path, *, env: dict[str, str]) -> Path:
    """Make a git worktree with a built gateway in it.

    Args:
        worktree: Made here.
        env: Lines of its `.env`.
    """
    (worktree / "dist").mkdir(parents=True)
    for chunk in _APP.glob("*.js"):
        shutil.copy(chunk, worktree / "dist")
    shutil.copy(_APP / "package.json", worktree)
    (worktree / ".env").write_text("".join(f"{name}={value}\n" for name, value in env.items()))
    (worktree / ".gitignore").write_text(".env\ndist/\n.context/\n")
    commit(worktree, "first", initial=True)
    return worktree


def commit(worktree: Path, message: str, *, initial: bool = False) -> None:
    """Commit everything that is not ignored."""
    git = ["git", "-C", str(worktree), "-c", "user.name=t", "-c", "user.email=t@t"]
    if initial:
        subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", message], check=True)
