"""Where the interpreters of this machine lie, and what of it a program needs to see.

Only libraries and the interpreter itself: no shells, no tools, no settings, no packages of the
user's. Paths are real ones; the walls put the same paths into the room of the program.
"""

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.sandbox.program import Language

_LIBRARIES = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64")
_LOADER_CACHE = "/etc/ld.so.cache"
_NODE_PARTS = ("/usr/share/nodejs", "/usr/share/node")
OUR_PACKAGE = Path(__file__).resolve().parent.parent
_HEAP_SHARE = 0.75
"""Of the memory limit: the rest is Node's own and its buffers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """One interpreter, as a program finds it."""

    executable: str
    looked_at: tuple[str, ...]
    """Real paths to be seen, files and folders; none below another."""
    links: tuple[tuple[str, str], ...]
    """Links of the root folder, as they are on this machine."""
    covers: tuple[str, ...]
    """Folders below those that hold what a program has no business with."""


@cache
def interpreter(language: Language) -> Interpreter | None:
    """Return the interpreter of a language, ``None`` where this machine has none."""
    return _python() if language == "python" else _node()


def options(language: Language, memory_mb: int) -> tuple[str, ...]:
    """Return the options before the program's own arguments."""
    if language == "python":
        return "-s", "-B", "-X", "utf8"
    return (f"--max-old-space-size={max(16, int(memory_mb * _HEAP_SHARE))}",)


def environment(home: str) -> dict[str, str]:
    """Return all the environment there is; hashes are the same in every run."""
    return {
        "HOME": home,
        "LANG": "C.UTF-8",
        "OPENSSL_CONF": "/dev/null",  # Node ends where it may not look for the machine's
        "PATH": "/usr/bin",
        "PYTHONHASHSEED": "0",
        "TMPDIR": "/tmp",  # noqa: S108 - the room's own
        "TZ": "UTC",
    }


def _python() -> Interpreter:
    base = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    prefix = os.path.realpath(sys.base_prefix)
    library = f"{prefix}/lib"
    parts = [base, *_if_there(library)]
    if prefix == "/usr":
        parts = [base]
    return _with_libraries(base, parts)


def _packages() -> set[str]:
    """Return where packages lie: those of Python, and ours, which holds what the tasks ask for."""
    prefix = os.path.realpath(sys.base_prefix)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = {
        f"{folder}/{name}"
        for folder in (f"{prefix}/lib", f"{prefix}/local/lib", "/usr/lib")
        for name in (
            f"{version}/site-packages",
            f"{version}/dist-packages",
            f"python{sys.version_info.major}/dist-packages",
        )
    }
    found |= {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return {os.path.realpath(path) for path in found | {str(OUR_PACKAGE)}}


def _node() -> Interpreter | None:
    found = shutil.which("node") or shutil.which("nodejs")
    if found is None:
        return None
    executable = os.path.realpath(found)
    return _with_libraries(executable, [executable, *_if_there(*_NODE_PARTS)])


def _with_libraries(executable: str, parts: Iterable[str]) -> Interpreter:
    links = tuple(
        (path, str(Path(path).readlink())) for path in _LIBRARIES if Path(path).is_symlink()
    )
    linked = {path for path, _ in links}
    libraries = [path for path in _if_there(*_LIBRARIES) if path not in linked]
    shown = _outermost([*libraries, *_if_there(_LOADER_CACHE), *parts])
    covers = sorted(
        path
        for path in _packages()
        if Path(path).is_dir() and any(_is_below(path, top) for top in shown)
    )
    return Interpreter(
        executable=executable, looked_at=tuple(shown), links=links, covers=tuple(_outermost(covers))
    )


def _if_there(*paths: str) -> list[str]:
    return [
        os.path.realpath(path) if path == _LOADER_CACHE else path
        for path in paths
        if Path(path).exists()
    ]


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths that lie below no other one."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not any(_is_below(path, top) for top in kept):
            kept.append(path)
    return kept
