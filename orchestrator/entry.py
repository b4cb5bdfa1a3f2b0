"""How a command is executed so that its command line says nothing. Pure: plans, writes nothing.

People kill by pattern (`pkill -f dist/serve.js`). In ``shim`` mode the only path on the command
line is a file `<8 hex>.cjs` or `.py` in the state folder; entry and arguments travel inside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec

from orchestrator.errors import DescriptionFault
from orchestrator.masking import SECRET_WORDS

Runtime = Literal["node", "python", "native"]
EntryMode = Literal["shim", "import", "link", "direct"]
PlannedMode = Literal["shim", "shim-import", "import", "link", "direct"]

OUR_FIRST_LINE = "// Written by gateway-bench for one run; removed when that ends."
# Its record is read by who does not know what an address of the gateway may hold.
_SHIM_SECRETS = (*SECRET_WORDS, "_URL")
_NODE = re.compile(r"node(js)?(\d+)?")
_PYTHON = re.compile(r"python(\d+(\.\d+)?)?")
# Options of the two that take the next word as their value; with any other option the next word
# may be the entry. From `node --help` (20 to 26) and `python3 --help`.
_NODE_VALUED = frozenset(
    (
        *("-r", "-C", "--require", "--import", "--loader", "--experimental-loader"),
        *("--env-file", "--env-file-if-exists", "--conditions", "--title", "--input-type"),
        *("--openssl-config", "--icu-data-dir"),
    )
)
_PYTHON_VALUED = frozenset(("-W", "-X", "--check-hash-based-pycs"))
# With one of these nothing of the command is an entry that a shim could stand for.
_NODE_OTHER = frozenset(
    (
        *("-e", "--eval", "-p", "--print", "-c", "--check", "-i", "--interactive", "-"),
        *("--run", "--test", "--watch"),
    )
)
_PYTHON_OTHER = frozenset(("-c", "-", "-i"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A command, taken apart."""

    runtime: Runtime
    interpreter: str
    """Name or path as it was written; for a native program the program itself."""
    flags: tuple[str, ...] = ()
    """Options of the interpreter; they stay on the command line."""
    entry: Path | None = None
    """Absolute path of the script; ``None`` for a module and for a native program."""
    module: str | None = None
    """Of ``python -m``."""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShimPlace:
    """Where a shim may be written, and under which name."""

    folder: Path
    stem: str
    """Eight hex digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShimFile:
    """A file to write before the start and to remove once the gateway is gone."""

    path: Path
    text: str = ""
    link_to: Path | None = None
    """It is a link to this file, not a text: a symbolic one in the state folder, else a hard one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPlan:
    """What to execute."""

    executable: Path
    argv: tuple[str, ...]
    mode: PlannedMode
    shim: ShimFile | None = None
    exit_file: Path | None = None
    """Where the shim records how it ended."""
    path_first: Path | None = None
    """Folder that goes first in PATH: a Python named ``python3`` finds its environment by it."""
    warning: str | None = None


def read_command(argv: Sequence[str], folder: Path) -> Program:
    """Take a command apart into interpreter, its options, entry and arguments.

    Args:
        argv: As typed; the first word may be a bare name.
        folder: What a relative entry is relative to.

    Raises:
        DescriptionFault: The command is empty.
    """
    if not argv:
        raise DescriptionFault("the gateway's command is empty", hint="name one with `--command`")
    name = Path(argv[0]).name
    if _NODE.fullmatch(name):
        return _read_node(tuple(argv), folder)
    if _PYTHON.fullmatch(name):
        return _read_python(tuple(argv), folder)
    return Program(runtime="native", interpreter=argv[0], arguments=tuple(argv[1:]))


def _as_is(argv: tuple[str, ...], runtime: Runtime) -> Program:
    return Program(runtime=runtime, interpreter=argv[0], arguments=argv[1:])


def _read_node(argv: tuple[str, ...], folder: Path) -> Program:
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        if argv[at].partition("=")[0] in _NODE_OTHER:
            return _as_is(argv, "node")
        at += 2 if argv[at] in _NODE_VALUED else 1
    if at >= len(argv):
        return _as_is(argv, "node")
    return Program(
        runtime="node",
        interpreter=argv[0],
        flags=argv[1:at],
        entry=folder / argv[at],
        arguments=argv[at + 1 :],
    )


def _read_python(argv: tuple[str, ...], folder: Path) -> Program:
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        word = argv[at]
        if word in _PYTHON_OTHER or word[:2] == "-c":
            return _as_is(argv, "python")
        if word[:2] == "-m":
            rest = ([word[2:]] if word[2:] else []) + list(argv[at + 1 :])
            if not rest:
                return _as_is(argv, "python")
            return Program(
                runtime="python",
                interpreter=argv[0],
                flags=argv[1:at],
                module=rest[0],
                arguments=tuple(rest[1:]),
            )
        at += 2 if word in _PYTHON_VALUED else 1
    if at >= len(argv):
        return _as_is(argv, "python")
    return Program(
        runtime="python",
        interpreter=argv[0],
        flags=argv[1:at],
        entry=folder / argv[at],
        arguments=argv[at + 1 :],
    )


def plan_entry(
    program: Program,
    mode: EntryMode,
    *,
    executable: Path,
    place: ShimPlace,
    runs_main: bool = True,
) -> EntryPlan:
    """Decide what is executed.

    Args:
        program: The command, taken apart.
        mode: As asked for; a command that no shim can stand for runs as it is.
        executable: The interpreter or program, found.
        place: Where a shim goes.
        runs_main: Whether this Node starts its main through a shim (asked once per version).

    Raises:
        DescriptionFault: The mode does not go with the command.
    """
    has_entry = program.entry is not None or program.module is not None
    if mode == "import":
        return _import_beside(program, executable)
    if mode == "link":
        return _link_beside(program, executable, place)
    if mode == "direct" or program.runtime == "native" or not has_entry:
        return _direct(program, executable, asked=mode)
    if program.runtime == "node":
        return _node_shim(program, executable, place, runs_main=runs_main)
    return _python_shim(program, executable, place)


def _direct(program: Program, executable: Path, *, asked: EntryMode) -> EntryPlan:
    what: tuple[str, ...] = ()
    if program.module is not None:
        what = ("-m", program.module)
    elif program.entry is not None:
        what = (str(program.entry),)
    warning = None
    if asked == "shim" and program.runtime != "native":
        warning = "the command has no entry file that could be renamed: it runs as it is"
    return EntryPlan(
        executable=executable,
        argv=(executable.name, *program.flags, *what, *program.arguments),
        mode="direct",
        warning=warning,
    )


def _import_beside(program: Program, executable: Path) -> EntryPlan:
    if program.runtime != "node" or program.entry is None:
        raise DescriptionFault(
            "entry mode `import` is for Node entries only",
            hint="leave it out: the default, `shim`, works for Python too",
        )
    entry = program.entry
    beside = entry.with_name(f"bench-{entry.name}")
    # import() is an expression: it is allowed in ESM and in CJS files alike.
    text = f"{OUR_FIRST_LINE}\nimport({msgspec.json.encode('./' + entry.name).decode()});\n"
    return EntryPlan(
        executable=executable,
        argv=(executable.name, *program.flags, str(beside), *program.arguments),
        mode="import",
        shim=ShimFile(path=beside, text=text),
        warning="entry mode `import` leaves main guards false: a guarded entry ends at once",
    )


def _link_program(program: Program, executable: Path, place: ShimPlace) -> EntryPlan:
    """Run a program by a link in the state folder: path, ``argv[0]`` and ``comm`` say nothing."""
    link = place.folder / f"{place.stem}.run"
    return EntryPlan(
        executable=link,
        argv=(str(link), *program.arguments),
        mode="link",
        shim=ShimFile(path=link, link_to=executable),
        warning="its arguments stay visible" if program.arguments else None,
    )


def _link_beside(program: Program, executable: Path, place: ShimPlace) -> EntryPlan:
    if program.runtime == "native":
        return _link_program(program, executable, place)
    if program.entry is None:
        raise DescriptionFault(
            "entry mode `link` needs an entry file",
            hint="leave it out: the default, `shim`, works for modules too",
        )
    beside = program.entry.with_name(f"{place.stem}{program.entry.suffix}")
    return EntryPlan(
        executable=executable,
        argv=(executable.name, *program.flags, str(beside), *program.arguments),
        mode="link",
        shim=ShimFile(path=beside, link_to=program.entry),
        warning="entry mode `link` evaluates an entry twice whose chunks import it by its name",
    )


def _settings(text: str, values: dict[str, object]) -> str:
    return text.replace('"@SETTINGS@"', msgspec.json.encode(values).decode(), 1)


def _node_shim(
    program: Program, executable: Path, place: ShimPlace, *, runs_main: bool
) -> EntryPlan:
    path = place.folder / f"{place.stem}.cjs"
    exit_file = place.folder / f"{place.stem}.exit"
    template = resources.files("orchestrator").joinpath("shims/node.cjs").read_text("utf-8")
    values: dict[str, object] = {
        "entry": str(program.entry),
        "args": program.arguments,
        "record": str(exit_file),
        "runMain": runs_main,
        "secretWords": _SHIM_SECRETS,
    }
    return EntryPlan(
        executable=executable,
        argv=(executable.name, *program.flags, str(path)),
        mode="shim" if runs_main else "shim-import",
        shim=ShimFile(path=path, text=_settings(template, values)),
        exit_file=exit_file,
        warning=None
        if runs_main
        else f"`{executable}` does not start its main through a shim: the entry is imported, "
        "and guards on `require.main` or `import.meta.main` are false",
    )


def _python_shim(program: Program, executable: Path, place: ShimPlace) -> EntryPlan:
    path = place.folder / f"{place.stem}.py"
    exit_file = place.folder / f"{place.stem}.exit"
    template = resources.files("orchestrator").joinpath("shims/python.txt").read_text("utf-8")
    values: dict[str, object] = {
        "entry": None if program.entry is None else str(program.entry),
        "module": program.module,
        "args": program.arguments,
        "record": str(exit_file),
        "secretWords": _SHIM_SECRETS,
    }
    literal = repr(msgspec.json.encode(values).decode())
    return EntryPlan(
        executable=executable,
        argv=("python3", *program.flags, str(path)),
        mode="shim",
        shim=ShimFile(path=path, text=template.replace('"@SETTINGS@"', literal, 1)),
        exit_file=exit_file,
        path_first=executable.parent,
    )
