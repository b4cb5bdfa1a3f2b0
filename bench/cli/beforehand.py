"""What is wrong with a run, as far as it shows before a gateway is started for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.cli.configured import configured, named_variables
from bench.cli.console import Console
from bench.config import Config
from bench.errors import KeyMissing
from bench.raw_body import body_model


def check_beforehand(
    params: Mapping[str, Any], console: Console, *, is_compared: bool = False
) -> None:
    """Refuse settings and cases that can't be measured: nobody waits for a gateway to hear that.

    What the measuring process alone may do is left to it: to run a user's function, and to fetch
    an external suite's data.

    Args:
        params: Of the command, positional words merged in.
        console: Talks.
        is_compared: Two endpoints are asked in turn.

    Raises:
        BenchError: As measuring would.
    """
    from bench.cli.senders import check_senders
    from bench.prepare.access import read_body
    from bench.prepare.pairing import refuse_several_cases
    from bench.prepare.shaping import shaped
    from bench.prepare.sources import find_sources  # all cases: not for `--help`

    config = shaped(configured(params, console), is_compared=is_compared).config
    check_senders(config, is_local=True)
    for option, variable in named_variables(config):
        # Without a value the gateway's own key is the one its description seeds.
        if option != "--api-key-env" and config.secret(variable, named_by=None) is None:
            raise KeyMissing([variable], option=option)
    body = read_body(config)
    if body is not None:
        body_model(body, typed=next(iter(config.settings.model), None))
    elif not _reaches_out(config):
        cases = find_sources(config).cases
        if is_compared:
            refuse_several_cases(cases)


def _reaches_out(config: Config) -> bool:
    from bench.prepare.sources import is_address, user_cases_of
    from bench.usercases import is_entry_point

    data = config.settings.external_data
    if data is not None and is_address(data):
        return True
    own = user_cases_of(config)
    return any(is_entry_point(source) and not Path(source).exists() for source in own)
