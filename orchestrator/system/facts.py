"""What is about to run: programs, entry, git. Looks only; a question without answer is ``None``."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from orchestrator.ports import Build, StateFolder
from orchestrator.system.node_trial import NodeTrial

_GIT_S = 20.0
_SOURCES = frozenset(
    (
        *(".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"),
        *(".py", ".go", ".rs", ".java", ".kt", ".c", ".cc", ".cpp", ".h"),
    )
)
_INSTALLED = frozenset(("node_modules", "site-packages"))
# What a virtual environment's folder holds, and a conda environment's.
_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
_MOST_SOURCES = 50_000
# pip writes this where the path of the interpreter is too long, or has blanks, for a first line.
_LONG_SHEBANG = re.compile(r"""\A#!/bin/sh\n'''exec' "?([^"\n]+?)"? "\$0" "\$@"\n""")
# What pnpm and yarn put into `node_modules/.bin`: a shell script that ends in this.
_NODE_WRAPPER = re.compile(
    r"""\A#!/bin/sh\nbasedir=.*\n *exec node +([^"\n]*)"\$basedir/([^"\n]+)" +"\$@"\n""", re.DOTALL
)


class DiskFacts:
    """Looks at the disk.

    Args:
        state: Where the answer of each Node version is kept.
    """

    def __init__(self, state: StateFolder) -> None:
        self._trial = NodeTrial(state)

    def program(self, name: str, *, search_path: str, folder: Path) -> Path | None:
        """Find an executable as a shell in ``folder`` would."""
        if "/" in name:
            path = folder / name
            found = str(path) if path.is_file() and os.access(path, os.X_OK) else None
        else:
            found = shutil.which(name, path=search_path)
        if found is None:
            return None
        # Links stay: the folder of a virtual environment's link is what makes it one.
        path = folder / found
        if path.name.startswith("python"):
            plain = path.with_name("python3")
            return plain if plain.exists() and plain.samefile(path) else path
        return path

    def script_of(self, path: Path) -> tuple[str, ...]:
        """Return what a script stands for: interpreter, its options, the file it runs."""
        try:
            with path.open("rb") as file:
                head = file.read(4096).decode(errors="replace")
        except OSError:
            return ()
        if not head.startswith("#!"):
            return ()
        long = _LONG_SHEBANG.match(head)
        if long:
            return (long[1], str(path))
        wrapped = _NODE_WRAPPER.search(head)
        if wrapped:
            return ("node", *wrapped[1].split(), str((path.parent / wrapped[2]).resolve()))
        words = head[2:].split("\n", 1)[0].split()
        if words and Path(words[0]).name == "env":
            words = [word for word in words[1:] if word != "-S" and "=" not in word]
        if words and Path(words[0]).name.startswith("node"):
            # Behind a link in `node_modules/.bin` guards compare the real file with the link.
            path = path.resolve()
        return (*words, str(path)) if words else ()

    def is_file(self, path: Path) -> bool:
        """Say whether a regular file is there."""
        return path.is_file()

    def runs_main(self, node: Path) -> bool:
        """Say whether this Node starts guarded files through our shim."""
        return self._trial.runs_main(node)

    def build(self, worktree: Path, entry: Path | None) -> Build:
        """Return commit, tree, difference and age of what will run."""
        digest = None
        if entry is not None and entry.is_file():
            digest = hashlib.sha256(entry.read_bytes()).hexdigest()
        commit = _git(worktree, "rev-parse", "HEAD")
        if commit is None:
            return Build(entry_sha256=digest)
        changes = _git(worktree, "status", "--porcelain") or ""
        difference = _git(worktree, "diff", "HEAD", "--binary", "--no-ext-diff", "--no-textconv")
        return Build(
            entry_sha256=digest,
            commit=commit.strip(),
            tree=(_git(worktree, "rev-parse", "HEAD^{tree}") or "").strip() or None,
            branch=(_git(worktree, "branch", "--show-current") or "").strip() or None,
            is_dirty=bool(changes),
            diff_sha256=_hash(difference) if difference else None,
            newer_source=None if entry is None else _newer_source(worktree, entry),
        )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _git(worktree: Path, *words: str) -> str | None:
    try:
        # No file system monitor and no lock: looking must start and change nothing.
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", *words],  # noqa: S607  # the user's git
            # Not by `-C`: a worktree's name on a command line is what people kill by.
            cwd=worktree,
            capture_output=True,
            timeout=_GIT_S,
            check=True,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):  # no git, no repository, no commit yet
        return None
    return done.stdout.decode(errors="surrogateescape")


def _is_installed(entry: Path, within: Path) -> bool:
    """Say whether a package's installation wrote the entry: its files, or a command it brought."""
    if _INSTALLED.intersection(within.parts):
        return True
    folder = entry.parent
    return folder.name == "bin" and any((folder.parent / name).exists() for name in _ENVIRONMENTS)


def _newer_source(worktree: Path, entry: Path) -> str | None:
    listed = _git(worktree, "ls-files", "-z", "--full-name", ":/")
    top = _git(worktree, "rev-parse", "--show-toplevel")
    if listed is None or top is None:
        return None
    root = Path(top.strip())
    names = [name for name in listed.split("\0") if Path(name).suffix in _SOURCES][:_MOST_SOURCES]
    try:
        built_ns = entry.stat().st_mtime_ns
        real = entry.resolve()
        within = real.relative_to(root.resolve())
        if str(within) in names or _is_installed(real, within):
            return None  # a source itself, or a package: nothing of this was built here
    except (OSError, ValueError):
        return None
    newest: tuple[int, str] = (built_ns, "")
    for name in names:
        try:
            newest = max(newest, ((root / name).stat().st_mtime_ns, name))
        except OSError:
            continue  # deleted in the working copy
    return newest[1] or None
