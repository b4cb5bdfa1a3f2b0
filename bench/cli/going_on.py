"""What of a command is typed again to go on with its run: what its journal doesn't hold.

The command that a hint prints has to work as printed, in a shell that has the secrets and nothing
else of ours. Secrets themselves are never in it.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from bench.config import Config
from bench.keys import Origin
from bench.model.run_config import RunConfig
from bench.prepare.access import Access
from bench.settings import SETTINGS

_SWITCHES = {
    "key": "--no-key",
    "tag": "--no-tag",
    "allow_unknown_cost": "--allow-unknown-cost",
    "allow_reduced_sandbox": "--allow-reduced-sandbox",
    "require_complete": "--require-complete",
    "archive": "--no-archive",
}
"""Switch → how it is typed where it is not at its default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What is typed besides `resume` and the journal."""

    words: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    """Options whose values nobody keeps."""

    def command(self, journal: str, *more: str) -> str:
        """Return the command for a shell.

        Args:
            journal: Its path.
            more: Further words.
        """
        return " ".join(("gateway-bench resume", *map(shlex.quote, (journal, *self.words)), *more))

    def note(self) -> str:
        """Return what has to be added to the command; empty = nothing."""
        named = " and ".join(f"`{option}`" for option in self.by_hand)
        return f", with {named} again (no value is kept)" if named else ""


NOTHING_MORE = Again()


def typed_again(
    config: Config, access: Access, run: RunConfig, *, has_job: bool, is_resumed: bool = False
) -> Again:
    """Return what goes on with the run as it is.

    Args:
        config: Of this command.
        access: Where its requests went.
        run: As its journal has it.
        has_job: A job started the gateway, and will start it again: address and key are its own.
        is_resumed: This command went on with a journal already.
    """
    is_vouched = config.settings.archive and not is_resumed
    is_vouched |= config.trust["url"] is Origin.FLAG and config.label("url") == "the journal"
    words = [*_request_words(config), *_switches(config)]
    if not is_vouched and not has_job:
        words += _address(config, access)
    if not is_vouched:
        words += _sources(run)
    return Again(words=tuple(words), by_hand=tuple(_by_hand(config)))


def _request_words(config: Config) -> Iterator[str]:
    """Yield what shapes a request and is in no journal."""
    settings = config.settings
    for field in ("cacert", "body"):
        path = config.path_of(field)
        if path is not None and _is_of_this_shell(config, field):
            yield from (f"--{field}", str(path.absolute()))
    if settings.proxy is not None:  # a password in it is refused
        yield from ("--proxy", settings.proxy)
    for field in ("header_env", "baseline_header_env"):
        for name, variable in getattr(settings, field):
            yield from (f"--{SETTINGS[field].name}", f"{name}={variable}")


def _switches(config: Config) -> Iterator[str]:
    for field, spelling in _SWITCHES.items():
        is_changed = getattr(config.settings, field) is not SETTINGS[field].default
        if is_changed and _is_of_this_shell(config, field):
            yield spelling


def _is_of_this_shell(config: Config, field: str) -> bool:
    """Return whether another shell has it only when it is typed: files of the folder stay."""
    return config.trust[field] in {Origin.FLAG, Origin.ENVIRONMENT}


def _address(config: Config, access: Access) -> Iterator[str]:
    """Yield where secrets go: a journal that nobody vouches for doesn't say it."""
    if access.secrets:
        yield from ("--url", access.endpoint.url)
    if access.key_variable is not None:
        yield from ("--api-key-env", access.key_variable)
    for field in ("baseline_url", "baseline_api_key_env", "baseline_key_header"):
        value = getattr(config.settings, field)
        if value is not None:
            yield from (f"--{SETTINGS[field].name}", value)
    if config.settings.ray_address is not None:
        yield from ("--ray-address", config.settings.ray_address)


def _sources(run: RunConfig) -> Iterator[str]:
    """Yield where code and data come from: a stranger's journal doesn't say that either."""
    for source in run.user_cases:
        yield from ("--cases", source)
    if run.external_suite is not None and run.external_suite.data is not None:
        yield from ("--external-data", run.external_suite.data)


def _by_hand(config: Config) -> Iterator[str]:
    if config.settings.header:
        yield "--header"
    if config.settings.baseline_header:
        yield "--baseline-header"
