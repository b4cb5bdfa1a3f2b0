"""Cases from a Python function: the user's own code, run because its name was typed."""

import hashlib
import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import msgspec

from bench.cases.text_hash import text_hash
from bench.errors import UsageFault
from bench.model.case import Case
from bench.usercases.building import read_case
from bench.usercases.fields import Faults, shown
from bench.usercases.located import Located

_NAME = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*|.+\.py):([A-Za-z_]\w*)")
_T = TypeVar("_T")
_LOADED_AS = "gateway_bench_user_cases"


def is_entry_point(text: str) -> bool:
    """Return whether ``text`` is `module:function` or `file.py:function`."""
    return _NAME.fullmatch(text) is not None


def cases_of(entry_point: str, folder: Path, faults: list[str]) -> list[Case]:
    """Run the function and return its cases; faults in them go to ``faults``.

    The function takes nothing and returns cases: ``bench.model.case.Case`` objects, tables with
    the fields of a case file, or both.

    Args:
        entry_point: `module:function`, the module installed or in ``folder``, or
            `file.py:function`.
        folder: The working directory.
        faults: Takes what is wrong.

    Raises:
        UsageFault: It can't be imported, is not there, or raised.
    """
    match = _NAME.fullmatch(entry_point)
    if match is None:
        message = f"`{entry_point}` is no `module:function`"
        raise UsageFault(message)
    with redirect_stdout(sys.stderr):  # stdout is data
        module = _guarded(entry_point, lambda: _module(match[1], folder))
        function = getattr(module, match[2], None)
        if not callable(function):
            message = f"`{entry_point}`: the module has no function `{match[2]}`"
            raise UsageFault(message, hint="it takes nothing and returns cases")
        made = _guarded(entry_point, lambda: _listed(function()))
        return [
            case
            for number, one in enumerate(made, start=1)
            if (case := _case(one, number, entry_point, module, faults)) is not None
        ]


def _listed(made: object) -> list[object]:
    if isinstance(made, Mapping | str) or not isinstance(made, Iterable):
        message = f"it returned {type(made).__name__}, not a list of cases"
        raise TypeError(message)
    return list(made)


def _guarded(entry_point: str, call: Callable[[], _T]) -> _T:
    try:
        return call()
    except Exception as error:
        # The border to the user's code: whatever it raises is its own fault, and told as such.
        at = traceback.extract_tb(error.__traceback__)[-1]
        message = (
            f"`{entry_point}` raised {type(error).__name__}: {error} ({at.filename}:{at.lineno})"
        )
        raise UsageFault(message, hint="`--debug` shows the traceback") from error


def _module(name: str, folder: Path) -> ModuleType:
    if not name.endswith(".py"):
        # Behind everything that is installed, so that a `json.py` here replaces nothing.
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        return importlib.import_module(name)
    path = (folder / Path(name).expanduser()).resolve()
    spec = importlib.util.spec_from_file_location(_LOADED_AS, path)
    if spec is None or spec.loader is None:
        message = f"{path} is no Python file"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[_LOADED_AS] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _case(
    made: object, number: int, entry_point: str, module: ModuleType, faults: list[str]
) -> Case | None:
    where = f"{entry_point}, case {number}"
    if isinstance(made, Case):
        return _checked(made, where, module, faults)
    if not isinstance(made, Mapping):
        faults.append(f"{where}: a `Case` or a table is needed, not {shown(made)}")
        return None
    own = Faults(Located(value=made, lines={}))
    case = read_case(made, (), own, default_id=f"case_{number}", read_file=_no_files)
    faults.extend(f"{where}: {text}" for _, text in own.found)
    return case


def _no_files(_: str) -> str:
    raise ValueError("a function reads its files itself")


def _checked(case: Case, where: str, module: ModuleType, faults: list[str]) -> Case | None:
    """Return the case with a hash over its instances and its code; ``None`` if it can't be asked."""
    if not case.info.id or case.info.kind == "agentic":
        faults.append(f"{where}: a case needs an id, and its kind is quality or performance")
        return None
    try:
        first, second = text_hash(case.build), text_hash(case.build)
    except Exception as error:  # noqa: BLE001 - the border to the user's code
        faults.append(f"{where}: `build` raised {type(error).__name__}: {error}")
        return None
    if first != second:
        faults.append(f"{where}: `build` is not pure: the same seed gave two different prompts")
        return None
    digest = hashlib.sha256(first.encode())
    if module.__file__ is not None:
        digest.update(Path(module.__file__).read_bytes())
    info = msgspec.structs.replace(case.info, text_hash=digest.hexdigest())
    return Case(info=info, build=case.build, description=case.description)
