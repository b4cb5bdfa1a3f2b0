"""The settings of a command that measures, with every secret in sight masked."""

from collections.abc import Iterator, Mapping
from typing import Any

from bench.cli.console import Console
from bench.cli.options import typed_settings
from bench.cli.place import current_place
from bench.client.masking import holds_secret
from bench.config import Config, load_config
from bench.proxies import proxy_secrets


def configured(params: Mapping[str, Any], console: Console) -> Config:
    """Return the settings; every secret in sight is masked from here on.

    That one is in sight is enough, whether or not it will be sent: a command that starts a gateway
    for a run doesn't find out, and the gateway may repeat what it was sent in what it dies of.
    """
    config = load_config(typed_settings(params), current_place())
    console.keep_secret(*_secrets(config))
    return config


def header_variables(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the variables of secret headers: for the measuring process, no gateway's business."""
    config = load_config(typed_settings(params), current_place())
    return tuple(dict.fromkeys(variable for _, variable in config.settings.header_env))


def _secrets(config: Config) -> Iterator[str]:
    settings, environ, known = config.settings, config.place.environ, config.known_keys()
    yield from (value for _, value in known.production)
    yield from (value for name, value in known.local if environ.get(name) == value)
    for _, variable in named_variables(config):
        if secret := config.secret(variable, named_by=None):
            yield secret.value
    for name, value in (*settings.header, *settings.baseline_header):
        if holds_secret(name.lower(), value):
            yield value
    yield from proxy_secrets(environ)


def named_variables(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each variable that is named as a secret's, after the option that names it."""
    settings = config.settings
    for option, variable in (
        ("--api-key-env", settings.api_key_env),
        ("--baseline-api-key-env", settings.baseline_api_key_env),
        *(("--header-env", variable) for _, variable in settings.header_env),
        *(("--baseline-header-env", variable) for _, variable in settings.baseline_header_env),
    ):
        if variable is not None:
            yield option, variable
