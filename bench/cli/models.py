"""`models`: what there is to measure, what it costs and who says so."""

import sys
from typing import TYPE_CHECKING

import click

from bench.cli.console import Console
from bench.cli.options import listing_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand

if TYPE_CHECKING:
    from bench.config import Config
    from bench.prepare.access import Access


@click.command("models", cls=SectionedCommand)
@click.argument("words", metavar="[WORD]...", nargs=-1)
@listing_options
@click.pass_obj
def models_command(console: Console, /, words: tuple[str, ...], **params: object) -> Outcome:
    """List models and mappings with prices, context and state.

    From the gateway at --url, and from your own catalogues (--catalogue). Each WORD has to stand in
    a model's id or name or in a mapping. Prices are US dollars per million tokens; `+` = more for
    long prompts or at some hours, `-` = nobody says.
    """
    from bench.catalogue.choosing import choices  # not for `--help`
    from bench.cli.configured import configured
    from bench.cli.model_table import as_values, table
    from bench.cli.talk import set_up_log, terminal_width
    from bench.clock import SystemClock
    from bench.errors import NothingListed
    from bench.prepare.offering import offered

    set_up_log(_number(params.get("verbose")), console)
    config = configured(params, console)
    access = _access(config, params, console)
    listing = offered(config, access, models=words)
    if listing.problem and not listing.models:
        raise NothingListed(listing.problem)
    if listing.problem:
        console.say(f"no list of models: {listing.problem}")
    found = choices(
        listing,
        words=words,
        selectors=config.settings.mapping,
        today=SystemClock().utcnow().date(),
    )
    shown = [each for each in found if each.is_active or config.settings.include_deactivated]
    hidden = len(found) - len(shown)
    count = len({each.model.id for each in shown})
    headline = f"{count} model{'s' * (count != 1)}, {len(shown)} to choose from"
    if hidden:
        headline += f"; {hidden} deactivated left out (`--include-deactivated`)"
    source = listing.listed_by
    width = terminal_width() if sys.stdout.isatty() else None
    console.say(f"{headline}; from {', '.join(dict.fromkeys((source, *listing.catalogues)))}")
    return Outcome(
        headline=headline,
        detail={
            "sources": list(dict.fromkeys((source, *listing.catalogues))),
            "models": [as_values(each, source=source) for each in shown],
        },
        text=table(shown, source=source, width=width) if shown else "",
        next="gateway-bench bench MODEL --mapping MAPPING --url URL" if shown else None,
    )


def _access(config: "Config", params: dict[str, object], console: Console) -> "Access | None":
    """Return the gateway to ask; ``None`` = only catalogues are listed.

    Many gateways show their list to everybody, so a missing key is no reason not to ask.

    Raises:
        UsageFault: There is neither a gateway nor a catalogue.
    """
    from bench.endpoint import resolve
    from bench.errors import KeyMissing, UsageFault
    from bench.keys import Origin
    from bench.prepare.access import find_access

    if config.settings.url is None:
        if config.settings.catalogue:
            return None
        raise UsageFault(
            "no gateway and no catalogue to list",
            hint="`--url URL`, `--preset NAME`, or `--catalogue FILE`",
        )
    hosts = params.get("trusted_hosts")
    trusted = tuple(map(str, hosts)) if isinstance(hosts, tuple) else ()
    try:
        access = find_access(config, trusted_hosts=trusted, resolve=resolve)
    except KeyMissing as missing:
        if config.settings.api_key_env is not None:
            raise
        console.say(f"note: {missing.message}; the list is asked without a key")
        keyless = config.with_value("key", value=False, origin=Origin.DEFAULT, label="no key found")
        access = find_access(keyless, trusted_hosts=trusted, resolve=resolve)
    console.keep_secret(*access.secrets)
    for note in access.notes:
        console.say(note)
    return access


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
