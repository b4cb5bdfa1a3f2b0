"""LLMGateway's own catalogue, the npm package `@llmgateway/models`, read without running it.

The package is JavaScript; nothing of it is executed, no Node is needed. What its modules declare
as data is read as data (`js_literals`), and no file outside the package is opened.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from bench.catalogue.js_literals import UNREAD, Module, NotData, read_module, read_value
from bench.catalogue.lists import models_in
from bench.catalogue.shape import ListedModel
from bench.errors import UsageFault, reason_in

NAME = "@llmgateway/models"
_MAX_BYTES = 8 * 1024 * 1024
"""Of one module; version 1.324.0 has 0.8 MB in all."""
_WANTED = "models"
_INSTALL = f"`npm install {NAME}` in some folder, then name its `node_modules/{NAME}`"


class UnreadablePackage(UsageFault):
    """The folder holds no such package, or one of another make."""

    def __init__(self, folder: Path, why: str) -> None:
        super().__init__(f"`{folder}` can't be read as {NAME}: {why}", hint=_INSTALL)


def find_package(folder: Path) -> Path | None:
    """Return the package's folder: ``folder`` itself, or inside it or its `node_modules`."""
    inside = Path(NAME)
    for each in (folder, folder / inside, folder / "node_modules" / inside):
        if _described(each).get("name") == NAME:
            return each
    return None


def read_package(folder: Path) -> tuple[str, tuple[ListedModel, ...]]:
    """Return the package's name with its version, and the models it lists.

    Raises:
        UnreadablePackage: There is none, or its models are not where they were.
    """
    found = find_package(folder)
    if found is None:
        raise UnreadablePackage(folder, "there is no such package here")
    described = _described(found)
    entry = found / _entry_of(described)
    version = str(described.get("version", "of unknown version"))
    try:
        models = _Package(found.resolve()).value_of(entry.resolve(), _WANTED)
    except NotData as fault:
        raise UnreadablePackage(found, str(fault)) from fault
    except OSError as fault:
        raise UnreadablePackage(found, f"{entry}: {reason_in(fault)}") from fault
    listed = models_in(models, source="catalogue")
    if not listed:
        raise UnreadablePackage(found, f"version {version} declares no list of models")
    return f"{NAME} {version}", listed


def _described(folder: Path) -> dict[str, Any]:
    try:
        read = msgspec.json.decode((folder / "package.json").read_bytes())
    except (OSError, msgspec.DecodeError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _entry_of(described: dict[str, Any]) -> str:
    exported = described.get("exports")
    for step in (".", "import"):
        exported = exported.get(step) if isinstance(exported, dict) else exported
    found: Iterable[object] = (exported, described.get("module"), described.get("main"))
    return next((path for path in found if isinstance(path, str)), "dist/index.js")


class _Package:
    """The modules of one package, each read once; values are looked up across them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._modules: dict[Path, Module] = {}
        self._values: dict[tuple[Path, str], Any] = {}

    def value_of(self, path: Path, name: str) -> Any:  # noqa: ANN401  any data
        """Return what ``name`` stands for in the module at ``path``; ``UNREAD`` = no data."""
        key = (path, name)
        if key not in self._values:
            self._values[key] = UNREAD  # what needs itself is no data
            self._values[key] = self._found(path, name)
        return self._values[key]

    def _found(self, path: Path, name: str) -> Any:  # noqa: ANN401  any data
        module = self._module(path)
        if name in module.declared:
            return read_value(module, name, lambda other: self.value_of(path, other))
        if name in module.imported:
            target, there = module.imported[name]
            inside = self._inside(path, target)
            return self.value_of(inside, there) if inside else UNREAD
        for target in module.all_of:
            inside = self._inside(path, target)
            value = self.value_of(inside, name) if inside else UNREAD
            if value is not UNREAD:
                return value
        return UNREAD

    def _inside(self, path: Path, target: str) -> Path | None:
        """Return the file an import means; ``None`` for other packages and what lies outside."""
        if not target.startswith("."):
            return None
        found = (path.parent / target).resolve()
        return found if found.is_relative_to(self._root) and found.is_file() else None

    def _module(self, path: Path) -> Module:
        if path not in self._modules:
            if path.stat().st_size > _MAX_BYTES:
                message = f"`{path.name}` is larger than {_MAX_BYTES // 1024 // 1024} MB"
                raise NotData(message)
            text = path.read_text(encoding="utf-8", errors="replace")
            self._modules[path] = read_module(text)
        return self._modules[path]
