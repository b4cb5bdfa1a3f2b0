"""Which suites there are: those that ship, and those that installed packages add."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

from bench.errors import UsageFault
from bench.external.bfcl.adapter import Bfcl
from bench.external.contract import ENTRY_POINT_GROUP, ExternalSuite
from bench.external.ifeval.adapter import IfEval


@cache
def known_suites() -> Mapping[str, ExternalSuite]:
    """Return all suites by name. A package's suite can't take the name of one that ships.

    Raises:
        UsageFault: An installed adapter can't be loaded, or is no adapter.
    """
    suites: dict[str, ExternalSuite] = {suite.name: suite for suite in (IfEval(), Bfcl())}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name not in suites:
            suites[point.name] = _adapter(point.name, point.value, point.load)
    return suites


def _adapter(name: str, value: str, load: object) -> ExternalSuite:
    try:
        made = load()  # type: ignore[operator]
        suite = made() if isinstance(made, type) else made
    except Exception as error:
        # The border to a stranger's package: whatever it raises is told as its own fault.
        message = f"the external suite `{name}` of `{value}` can't be loaded: {type(error).__name__}: {error}"
        raise UsageFault(message, hint="update or uninstall the package that brings it") from error
    lacks = [part for part in ("name", "description", "modes", "load") if not hasattr(suite, part)]
    if lacks or not suite.modes:
        message = f"the external suite `{name}` of `{value}` has no {', '.join(lacks) or 'modes'}"
        raise UsageFault(message, hint="docs/external-suites.md describes the contract")
    adapter: ExternalSuite = suite
    return adapter
