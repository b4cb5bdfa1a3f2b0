"""What is wrong with a run, as far as it shows before a gateway is started for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.cli.configured import configured, named_variables
from bench.cli.console import Console
from bench.config import Config
from bench.errors import KeyMissing


def check_beforehand(params: Mapping[str, Any], console: Console) -> None:
    """Refuse settings and cases that can't be measured: nobody waits for a gateway to hear that.

    What the measuring process alone may do is left to it: to run a user's function, and to fetch
    an external suite's data.

    Args:
        params: Of the command, positional words merged in.
        console: Talks.

    Raises:
        BenchError: As measuring would.
    """
    from bench.prepare.sources import find_sources  # all cases: not for `--help`

    config = configured(params, console)
    for option, variable in named_variables(config):
        # Without a value the gateway's own key is the one its description seeds.
        if option != "--api-key-env" and config.secret(variable, named_by=None) is None:
            raise KeyMissing([variable], option=option)
    if not _reaches_out(config):
        find_sources(config)


def _reaches_out(config: Config) -> bool:
    from bench.prepare.sources import is_address, user_cases_of
    from bench.usercases import is_entry_point

    data = config.settings.external_data
    if data is not None and is_address(data):
        return True
    own = user_cases_of(config)
    return any(is_entry_point(source) and not Path(source).exists() for source in own)
