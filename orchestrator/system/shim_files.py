"""Files that stand for an entry: private in the state folder, or beside the entry on request."""

import os
from contextlib import suppress
from pathlib import Path

from orchestrator.entry import OUR_FIRST_LINE
from orchestrator.errors import FileInTheWay
from orchestrator.ports import StateFolder


class DiskShims:
    """Writes and removes them.

    Args:
        state: Whatever is in its folder is ours.
    """

    def __init__(self, state: StateFolder) -> None:
        self._state = state

    def place(self, path: Path, text: str, link_to: Path | None) -> None:
        """Write a private file, or make a link: a hard one beside its target."""
        if path.parent == self._state.root and link_to is None:
            self._state.write(path.name, text.encode())
            return
        if path.parent == self._state.root and link_to is not None:
            # Symbolic: the program may be on another disk, and finds what lies beside it.
            path.unlink(missing_ok=True)
            path.symlink_to(link_to)
            return
        if path.exists() and not _is_ours(path, link_to):
            raise FileInTheWay(str(path))
        path.unlink(missing_ok=True)
        if link_to is not None:
            os.link(link_to, path)
            return
        path.write_text(text, encoding="utf-8")

    def remove(self, path: Path) -> None:
        """Remove it if it is there and ours; a worktree may be gone with it."""
        with suppress(OSError):
            if path.parent == self._state.root or path.stat().st_nlink > 1 or _is_ours(path, None):
                path.unlink()


def _is_ours(path: Path, link_to: Path | None) -> bool:
    if link_to is not None:
        return path.samefile(link_to)
    with path.open("rb") as file:
        return file.read(len(OUR_FIRST_LINE)) == OUR_FIRST_LINE.encode()
