"""From a suite's data to the cases of a run: fetch, load, cut, leave out or refuse."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.parse import urlsplit

from bench.errors import UnknownName, UsageFault
from bench.external.contract import ExternalSuite, Loaded, Unsupported
from bench.external.fetching import fetch
from bench.external.registry import known_suites
from bench.model.case import Case

_MAX_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked of an external suite."""

    suite: str
    data: str | None = None
    """Absolute path or http(s) address; ``None`` = the adapter's own."""
    limit: int | None = None
    offset: int = 0
    mode: str | None = None
    """``None`` = the suite's first."""
    unsupported: Literal["skip", "error"] = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The cases that are asked, and what is to be said of them."""

    cases: tuple[Case, ...]
    mode: str
    skipped: int
    """Unsupported items among those that limit and offset chose."""
    notes: tuple[str, ...]


def choose(asked: Asked) -> Chosen:
    """Return the cases of a suite, offset and limit counted over all items of its data.

    Raises:
        UnknownName: No such suite.
        SuiteFault: Its data can't be read.
        UsageFault: The mode is none of the suite's, nothing is left to ask, or an unsupported item
            is among what was asked.
    """
    suites = known_suites()
    suite = suites.get(asked.suite)
    if suite is None:
        raise UnknownName(
            "external suite", asked.suite, tuple(suites), listed_by="gateway-bench cases"
        )
    mode = asked.mode or suite.modes[0]
    if mode not in suite.modes:
        known = " or ".join(f"`{name}`" for name in suite.modes)
        message = f"`{suite.name}` is judged {known}, not `{mode}`"
        raise UsageFault(message, hint=f"leave `--external-mode` out: `{suite.modes[0]}` is meant")
    with _local(asked.data) as path:
        loaded = suite.load(path, mode=mode)
    return _cut(suite, loaded, asked, mode)


@contextmanager
def _local(data: str | None) -> Iterator[Path | None]:
    """Give the data as a path; what had to be fetched is gone afterwards."""
    if data is None or urlsplit(data).scheme not in {"http", "https"}:
        yield None if data is None else Path(data)
        return
    with TemporaryDirectory(prefix="gateway-bench-") as folder:
        name = hashlib.sha256(data.encode()).hexdigest()[:12]
        path = Path(folder) / f"{name}-{Path(urlsplit(data).path).name or 'data'}"
        path.write_bytes(fetch(data))
        yield path


def _cut(suite: ExternalSuite, loaded: Loaded, asked: Asked, mode: str) -> Chosen:
    end = None if asked.limit is None else asked.offset + asked.limit
    items = loaded.items[asked.offset : end]
    if not items:
        message = (
            f"`--external-offset {asked.offset}` lies behind the last of {len(loaded.items)} items"
        )
        raise UsageFault(message, hint=f"`{suite.name}` has {loaded.source}")
    lost = [item for item in items if isinstance(item, Unsupported)]
    cases = tuple(item for item in items if isinstance(item, Case))
    if lost and asked.unsupported == "error":
        message = f"{suite.name}: {_told(lost, len(items))}"
        raise UsageFault(message, hint="`--external-unsupported skip` asks the others")
    if not cases:
        message = f"{suite.name}: none of the {len(items)} items can be judged: {lost[0].reason}"
        raise UsageFault(message)
    part = "" if len(items) == len(loaded.items) else f"{len(items)} of "
    notes = [f"external suite {suite.name}, {mode}: {part}{loaded.source}"]
    if lost:
        notes.append(f"{_told(lost, len(items))}; left out")
    return Chosen(cases=cases, mode=mode, skipped=len(lost), notes=tuple(notes))


def _told(lost: Sequence[Unsupported], count: int) -> str:
    named = "; ".join(f"`{item.id}`: {item.reason}" for item in lost[:_MAX_NAMED])
    more = f"; and {len(lost) - _MAX_NAMED} more" if len(lost) > _MAX_NAMED else ""
    return f"{len(lost)} of {count} items can't be judged ({named}{more})"
