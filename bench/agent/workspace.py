"""The repository that a model works on, as text in memory: no path of it reaches this machine.

Every method answers in words for the model, whatever it is asked.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from bench.agent.task import Tree
from bench.agent.trees import unfit

MAX_READ = 16_000
"""Characters of a file in one answer."""
MAX_MATCHES = 80
MAX_LINE = 200
"""Characters of a matching line that are shown."""
MAX_LISTED = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What came of one use of a tool."""

    ok: bool
    detail: str
    """One line for people."""
    text: str
    """For the model; never empty."""
    invalid: bool = False
    """The path can't be one of the repository."""


class Workspace:
    """One repository under change.

    Attributes:
        files: Text by path.
        version: Grows with every change of any file.
    """

    def __init__(self, files: Tree, *, protected: frozenset[str] = frozenset()) -> None:
        self.files: dict[str, str] = dict(files)
        self.version = 0
        self._fixture = dict(files)
        self._protected = protected

    @property
    def changed(self) -> tuple[str, ...]:
        """Paths whose text is not what it was."""
        return tuple(
            sorted(path for path, text in self.files.items() if self._fixture.get(path) != text)
        )

    def list_files(self, folder: str | None) -> Told:
        """List the files below ``folder``."""
        return self._below(folder) if folder else self._listed("", self.files)

    def read_file(self, path: str, start_line: int = 1) -> Told:
        """Return a file's text from a line on."""
        found = self._known(path)
        if isinstance(found, Told):
            return found
        lines = self.files[found].splitlines(keepends=True)
        if start_line > max(1, len(lines)):
            said = f"{found} has {_count(len(lines), 'line')}; there is no line {start_line}."
            return Told(ok=False, detail=f"{found}: no line {start_line}", text=said)
        rest = "".join(lines[start_line - 1 :])
        shown = rest[:MAX_READ]
        text = shown or "[the file is empty]"
        if len(shown) < len(rest):
            text += (
                f"\n[{len(rest) - len(shown)} more characters; go on with start_line "
                f"{start_line + max(1, shown.count(chr(10)))}]"
            )
        return Told(ok=True, detail=f"{found}: {_count(len(lines), 'line')}", text=text)

    def search(self, text: str, folder: str | None) -> Told:
        """Find lines with ``text`` in them."""
        if not text:
            return Told(ok=False, detail="empty text", text="`text` is empty: every line has that.")
        where = _normal(folder) if folder else ""
        if isinstance(where, Told):
            return where
        found = [
            f"{path}:{number}: {line.strip()[:MAX_LINE]}"
            for path, content in sorted(self.files.items())
            if _is_below(path, where)
            for number, line in enumerate(content.splitlines(), start=1)
            if text in line
        ]
        if not found:
            return Told(ok=True, detail="no line", text=f"No line contains {text[:MAX_LINE]!a}.")
        shown = found[:MAX_MATCHES]
        more = [f"[{len(found) - len(shown)} more lines]"] if len(found) > len(shown) else []
        return Told(ok=True, detail=_count(len(found), "line"), text="\n".join([*shown, *more]))

    def write_file(self, path: str, content: str) -> Told:
        """Create or replace a file, unless the repository would not be one any more."""
        name = _normal(path)
        if isinstance(name, Told):
            return name
        after = {**self.files, name: content}
        fault = unfit(after)
        if fault is not None:
            said = f"Nothing was written: {fault}."
            return Told(ok=False, detail=f"{name[:80]!a}: {fault}", text=said, invalid=True)
        is_new, is_same = name not in self.files, self.files.get(name) == content
        if not is_same:
            self.files = after
            self.version += 1
        what = "created" if is_new else "unchanged, it had this text" if is_same else "replaced"
        text = f"{name}: {what} ({_count(len(content.splitlines()), 'line')})."
        if name in self._protected:
            text += " It is one of the tests: run_tests and the final tests use the original."
        return Told(ok=True, detail=f"{name}: {what.partition(',')[0]}", text=text)

    def _below(self, folder: str) -> Told:
        where = _normal(folder)
        if isinstance(where, Told):
            return where
        found = {path: text for path, text in self.files.items() if _is_below(path, where)}
        if found:
            return self._listed(where, found)
        said = f"There is no folder {where[:120]!a}. {self._overview()}"
        return Told(ok=False, detail=f"no folder {where[:80]!a}", text=said)

    def _listed(self, where: str, found: Mapping[str, str]) -> Told:
        lines = [f"{path} ({len(text)} characters)" for path, text in sorted(found.items())]
        more = [f"[{len(lines) - MAX_LISTED} more files]"] if len(lines) > MAX_LISTED else []
        text = "\n".join([*lines[:MAX_LISTED], *more]) or "[there are no files]"
        place = f" below {where}" if where else ""
        return Told(ok=True, detail=f"{_count(len(found), 'file')}{place}", text=text)

    def _known(self, path: str) -> str | Told:
        name = _normal(path)
        if isinstance(name, Told) or name in self.files:
            return name
        if any(_is_below(other, name) for other in self.files):
            said = f"{name[:120]!a} is a folder; list_files shows what is in it."
            return Told(ok=False, detail=f"{name[:80]!a} is a folder", text=said)
        said = f"There is no file {name[:120]!a}. {self._overview()}"
        return Told(ok=False, detail=f"no file {name[:80]!a}", text=said)

    def _overview(self) -> str:
        tops = sorted({path.partition("/")[0] for path in self.files})
        return f"At the root there are: {', '.join(tops[:40])}."


def tree_hash(files: Tree) -> str:
    """Return the SHA-256 (hex) of all paths and texts."""
    digest = hashlib.sha256()
    for path, text in sorted(files.items()):
        for part in (path, text):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
    return digest.hexdigest()


def _normal(path: str) -> str | Told:
    """Return a path as the repository has it, or why it can't be one."""
    name = path
    while name.startswith("./"):
        name = name[2:].lstrip("/")
    name = name.rstrip("/")
    if name == ".":
        name = ""
    fault = None
    if path.startswith(("/", "~")) or name[1:3] in {":\\", ":/"}:
        fault = "is absolute; give the path from the root of the repository"
    elif ".." in name.split("/"):
        fault = "leaves the repository or its folder with `..`; give the plain path"
    elif "\\" in name:
        fault = "has a backslash; folders are separated by `/`"
    elif "\0" in name or not name.isprintable():
        fault = "has characters that no path of the repository has"
    if fault is None:
        return name
    shown = f"{path[:120]!a}"
    return Told(ok=False, detail=f"path {shown}", text=f"The path {shown} {fault}.", invalid=True)


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
