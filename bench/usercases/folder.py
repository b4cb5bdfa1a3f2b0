"""A folder of case files, read in the order of their names."""

from dataclasses import dataclass
from pathlib import Path

from bench.errors import reason_in
from bench.model.case import Case
from bench.usercases.building import read_case
from bench.usercases.fields import Faults, Table, listed
from bench.usercases.located import Located, NotReadable, Place
from bench.usercases.toml_text import read_toml
from bench.usercases.yaml_text import read_yaml

SUFFIXES = (".toml", ".yaml", ".yml")
_MAX_BYTES = 8 * 1024 * 1024
_SEVERAL = "cases"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A case and where it stands."""

    case: Case
    file: Path
    line: int


def case_files(path: Path) -> list[Path]:
    """Return the case files of a folder, subfolders too, or the one file that ``path`` is.

    What begins with a dot or an underscore is passed over, and so are files of other kinds:
    `prompt-file` and `schema-file` may name them.
    """
    if path.is_file():
        return [path]
    found = (one for one in path.rglob("*") if one.suffix.lower() in SUFFIXES and one.is_file())
    return sorted(
        one
        for one in found
        if not any(part.startswith((".", "_")) for part in one.relative_to(path).parts)
    )


def read_case_file(path: Path, root: Path, faults: list[str]) -> list[Found]:
    """Return the cases of one file; what is wrong in it goes to ``faults`` as `FILE:LINE: …`.

    Args:
        path: The file.
        root: The folder that files named inside it must lie in.
        faults: Takes what is wrong.
    """
    try:
        located = _read(path)
    except NotReadable as error:
        at = "" if error.line is None else f":{error.line}"
        faults.append(f"{path}{at}: {error}")
        return []
    except ValueError as error:
        faults.append(f"{path}: {error}")
        return []
    own = Faults(located)

    def read_file(name: str) -> str:
        return _beside(path, root, name)

    found = [
        Found(case=made, file=path, line=located.line(place))
        for place, value, default_id in _tables(located, path, own)
        if (made := read_case(value, place, own, default_id=default_id, read_file=read_file))
    ]
    faults.extend(f"{path}:{line}: {text}" for line, text in sorted(own.found))
    return found


def _read(path: Path) -> Located:
    text = _text(path)
    return read_toml(text) if path.suffix.lower() == ".toml" else read_yaml(text)


def _text(path: Path) -> str:
    """Return a file's text.

    Raises:
        ValueError: It can't be read, is no UTF-8, or too long.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            message = f"longer than {_MAX_BYTES // 1024 // 1024} MiB"
            raise ValueError(message)
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        message = f"it can't be read: {reason_in(error)}"
        raise ValueError(message) from error
    except UnicodeDecodeError as error:
        message = f"no UTF-8 text: {error}"
        raise ValueError(message) from error


def _tables(located: Located, path: Path, faults: Faults) -> list[tuple[Place, object, str]]:
    """Return place, value and default id of each case in a file."""
    value = located.value
    if not isinstance(value, dict):
        faults.add((), "a case file holds the fields of a case, or `cases`, a list of them")
        return []
    if _SEVERAL not in value:
        return [((), value, path.stem)]
    table = Table(value, (), faults, kind="file of several cases")
    several = table.take(_SEVERAL, listed) or []
    table.finish()
    return [((_SEVERAL, n), one, f"{path.stem}_{n + 1}") for n, one in enumerate(several)]


def _beside(path: Path, root: Path, name: str) -> str:
    """Return the text of a file that a case names; it never lies outside the folder of cases.

    Otherwise a folder from a stranger could have any file of this machine sent to a model.
    """
    target = (path.parent / name).resolve()
    if not target.is_relative_to(root.resolve()):
        raise ValueError("a file inside the folder of cases is needed")
    return _text(target)
