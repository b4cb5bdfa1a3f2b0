"""Where a run's cases come from besides the ones that ship: the user's own, an external suite."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bench.agent.registry import cases_for
from bench.cases import CASE_IDS, DEFAULT_PROFILE, select_cases
from bench.config import Config
from bench.errors import Refused, UnknownName, UsageFault
from bench.keys import Origin
from bench.model.case import Case
from bench.model.record import Value
from bench.model.run_config import ExternalSource
from bench.settings import SETTINGS

if TYPE_CHECKING:
    from bench.external import Asked

_RANK = {
    Origin.DEFAULT: 0,
    Origin.PRESET: 1,
    Origin.FILE: 2,
    Origin.DOTENV: 3,
    Origin.ENVIRONMENT: 4,
    Origin.FLAG: 5,
}
_OF_EXTERNAL = ("external_data", "external_limit", "external_offset", "external_mode")
_SELECTORS = ("profile", "suite", "external", "cases")


class Sources(Value, frozen=True, kw_only=True):
    """The cases that are asked, and by which words they were chosen."""

    cases: tuple[Case, ...]
    profile: str | None = None
    suite: str | None = None
    user_cases: tuple[str, ...] = ()
    """Absolute paths, and functions as they were typed."""
    external: ExternalSource | None = None
    notes: tuple[str, ...] = ()


def find_sources(config: Config) -> Sources:
    """Return the cases that the settings ask for.

    `--profile`, `--suite` and `--external` exclude each other; `--cases` stands beside any of them.
    Of selections from several places those that were said most directly count: a typed one puts a
    file's aside. `--case` picks single cases out of all that ship or were named.

    Raises:
        UnknownName: No such profile, suite, external suite or case.
        UsageFault: A user's case or an external suite's data can't be used.
        Refused: A file of the worktree names a function.
    """
    settings, said = config.settings, _most_direct(config)
    _refuse_idle_options(config)
    own = user_cases_of(config) if "cases" in said else ()
    mine = _own_cases(own, config)
    external: ExternalSource | None = None
    theirs: tuple[Case, ...] = ()
    notes: tuple[str, ...] = ()
    if settings.external is not None and "external" in said:
        external, theirs, notes = load_external(asked_of(config))
    profile = settings.profile if "profile" in said else None
    suite = settings.suite if "suite" in said else None
    if settings.case:
        named = {case.info.id: case for case in (*mine, *theirs)}
        shipped = cases_for(case_id for case_id in settings.case if case_id not in named)
        cases = _picked(settings.case, named, shipped)
        profile = None
    elif said and not profile and not suite:
        cases = (*theirs, *mine)
    else:
        profile = profile if suite else profile or DEFAULT_PROFILE
        cases = (*select_cases(profile=profile, suite=suite, table=cases_for), *mine)
    return Sources(
        cases=cases,
        profile=profile,
        suite=suite,
        user_cases=own,
        external=external,
        notes=(*_own_note(own, mine), *notes),
    )


def user_cases_of(config: Config) -> tuple[str, ...]:
    """Return the sources of user cases: paths made absolute, functions as typed.

    Raises:
        Refused: A file names a function; only its user may have one run.
    """
    if not config.settings.cases:
        return ()
    from bench.usercases import ForeignCode, is_entry_point

    trust = config.trust["cases"]
    base = config.toml_folder if trust is Origin.FILE else None
    found = []
    for source in config.settings.cases:
        path = (base or config.place.folder) / Path(source).expanduser()
        if path.exists() or not is_entry_point(source):
            found.append(os.path.normpath(path))
        elif trust in {Origin.FILE, Origin.DOTENV}:
            raise ForeignCode(entry_point=source, named_by=config.label("cases"))
        else:
            found.append(source)
    return tuple(found)


def asked_of(config: Config) -> "Asked":
    """Return what the settings ask of the external suite they name."""
    from bench.external import Asked

    settings, data = config.settings, config.settings.external_data
    path = None if data is None or is_address(data) else config.path_of("external_data")
    return Asked(
        suite=settings.external or "",
        data=data if path is None else str(path),
        limit=settings.external_limit,
        offset=settings.external_offset,
        mode=settings.external_mode,
        unsupported="skip" if settings.external_unsupported == "skip" else "error",
    )


def is_address(data: str) -> bool:
    """Return whether data is at an address and not in a file."""
    return urlsplit(data).scheme in {"http", "https"}


def load_external(asked: "Asked") -> tuple[ExternalSource, tuple[Case, ...], tuple[str, ...]]:
    """Return what is recorded of an external suite, its cases, and what to say."""
    from bench.external import choose

    chosen = choose(asked)
    source = ExternalSource(
        suite=asked.suite,
        data=asked.data,
        limit=asked.limit,
        offset=asked.offset,
        mode=chosen.mode,
        unsupported=asked.unsupported,
        skipped=chosen.skipped,
    )
    return source, chosen.cases, chosen.notes


def recorded_cases(
    config: Config, recorded: Sequence[str], external: ExternalSource | None, *, is_own: bool
) -> dict[str, Case]:
    """Return the cases of a recorded run that don't ship, as they are now; what is typed counts.

    Args:
        config: Settings of the resuming command.
        recorded: Sources of user cases.
        external: The external suite.
        is_own: The journal is the user's own. A stranger's may neither have code run nor have
            anything fetched.

    Raises:
        Refused: It would.
        UsageFault: A source is gone or can't be used.
    """
    from bench.usercases import ForeignCode, is_entry_point

    typed = config.trust["cases"] is Origin.FLAG
    own = user_cases_of(config) if typed else tuple(recorded)
    for source in () if typed or is_own else own:
        if is_entry_point(source) and not Path(source).exists():
            raise ForeignCode(entry_point=source, named_by="the journal")
    cases = _own_cases(own, config)
    if external is not None:
        cases = (*cases, *_recorded_external(config, external, is_own=is_own))
    return {case.info.id: case for case in cases}


def _own_cases(sources: Sequence[str], config: Config) -> tuple[Case, ...]:
    if not sources:
        return ()
    from bench.usercases import load_cases  # most runs have none, and should not wait for it

    return load_cases(sources, config.place.folder, taken=CASE_IDS)


def _recorded_external(
    config: Config, external: ExternalSource, *, is_own: bool
) -> tuple[Case, ...]:
    from bench.external import Asked, choose

    data = external.data
    if config.trust["external_data"] is Origin.FLAG:
        data = asked_of(config).data
    elif data is not None and is_address(data) and not is_own:
        message = f"the journal would have `{data}` fetched"
        raise Refused(message, hint="name the data yourself with `--external-data`")
    asked = Asked(
        suite=external.suite,
        data=data,
        limit=external.limit,
        offset=external.offset,
        mode=external.mode,
        unsupported=external.unsupported,
    )
    return choose(asked).cases


def _refuse_idle_options(config: Config) -> None:
    """Refuse what was typed for an external suite where none is asked."""
    if config.settings.external is not None:
        return
    for field in _OF_EXTERNAL:
        if config.trust[field] is Origin.FLAG:
            message = f"`--{SETTINGS[field].name}` needs `--external NAME`"
            raise UsageFault(message, hint="`gateway-bench cases` lists the external suites")


def _most_direct(config: Config) -> frozenset[str]:
    """Return the selectors that count: those from the most direct place that has any."""
    said = [name for name in _SELECTORS if getattr(config.settings, name)]
    most = max((_RANK[config.trust[name]] for name in said), default=0)
    return frozenset(name for name in said if _RANK[config.trust[name]] == most)


def _picked(
    ids: Sequence[str], named: Mapping[str, Case], shipped: Mapping[str, Case]
) -> tuple[Case, ...]:
    for name in ids:
        if name not in named and name not in shipped:
            known = (*shipped, *named)
            raise UnknownName("case", name, known, listed_by="gateway-bench cases")
    # Taken one by one: whoever joins both tables loads every case.
    return tuple(named[name] if name in named else shipped[name] for name in dict.fromkeys(ids))


def _own_note(sources: Sequence[str], cases: Sequence[Case]) -> tuple[str, ...]:
    if not sources:
        return ()
    count = "1 case" if len(cases) == 1 else f"{len(cases)} cases"
    return (f"your own: {count} of {', '.join(f'`{one}`' for one in sources)}",)
