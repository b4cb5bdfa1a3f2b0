"""All of a user's cases, or all that is wrong with them."""

from collections.abc import Collection, Sequence
from pathlib import Path

from bench.errors import Refused, UsageFault
from bench.model.case import Case
from bench.usercases.entry_point import cases_of, is_entry_point
from bench.usercases.folder import SUFFIXES, case_files, read_case_file

_MAX_LISTED = 40


class CaseFaults(UsageFault):
    """Case files that can't be used; every fault of every file in one message."""

    def __init__(self, faults: Sequence[str]) -> None:
        listed = (
            faults[0] if len(faults) == 1 else "".join(f"\n  {one}" for one in faults[:_MAX_LISTED])
        )
        rest = len(faults) - _MAX_LISTED
        more = f"\n  and {rest} more" if rest > 0 else ""
        count = "" if len(faults) == 1 else f"{len(faults)} faults in the cases:"
        super().__init__(
            f"{count}{listed}{more}", hint="docs/user-cases.md has every field of a case"
        )
        self.faults = tuple(faults)


class ForeignCode(Refused):
    """A function that a file names, not the person at the keyboard."""

    def __init__(self, *, entry_point: str, named_by: str) -> None:
        super().__init__(
            f"{named_by} would have the function `{entry_point}` run",
            hint=f"read it, then type `--cases {entry_point}` yourself",
        )


def load_cases(
    sources: Sequence[str], folder: Path, *, taken: Collection[str] = ()
) -> tuple[Case, ...]:
    """Return the cases of every source, in order.

    Args:
        sources: Folders, case files, and functions as `module:function`; paths relative to
            ``folder`` or absolute.
        folder: The working directory.
        taken: Ids that no case may have.

    Raises:
        CaseFaults: Anything is wrong in any of them.
        UsageFault: A source is not there, holds no case, or raised.
    """
    faults: list[str] = []
    places: dict[str, str] = {}
    cases: list[Case] = []
    for source in sources:
        before = len(cases), len(faults)
        for case, where in _from(source, folder, faults):
            name = case.info.id
            if name in taken:
                faults.append(f"{where}: a case that ships is called `{name}` already")
            elif name in places:
                faults.append(f"{where}: `{name}` is a case already, at {places[name]}")
            else:
                places[name] = where
                cases.append(case)
        if before == (len(cases), len(faults)):
            message = f"`{source}` holds no case"
            raise UsageFault(message, hint=f"case files end in {', '.join(SUFFIXES)}")
    if faults:
        raise CaseFaults(faults)
    return tuple(cases)


def _from(source: str, folder: Path, faults: list[str]) -> list[tuple[Case, str]]:
    """Return the cases of one source, each with where it stands."""
    path = folder / Path(source).expanduser()
    if path.exists():
        root = path if path.is_dir() else path.parent
        return [
            (found.case, f"{found.file}:{found.line}")
            for file in case_files(path)
            for found in read_case_file(file, root, faults)
        ]
    if is_entry_point(source):
        return [(case, source) for case in cases_of(source, folder, faults)]
    message = f"`{path}` is no folder or file of cases, and no `module:function`"
    raise UsageFault(message, hint="`--cases DIR` or `--cases MODULE:FUNCTION`")
