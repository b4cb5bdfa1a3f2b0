"""The options that describe the two sides of `ab`, and what was typed of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from bench.cli.sections import SectionedOption
from orchestrator.ab_job import Letter

_F = TypeVar("_F", bound=Callable[..., Any])

LETTERS: tuple[Letter, Letter] = ("a", "b")
_SECTIONS = {"a": "Side a: what is held against", "b": "Side b: what is asked about"}
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD")

_OPTIONS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    (
        "",
        "dir",
        {"metavar": "DIR"},
        "Its folder. Default: `--gateway`, else the working directory.",
    ),
    (
        "-ref",
        "ref",
        {"metavar": "COMMIT"},
        "A commit of that folder's repository, in a working tree made, built and removed again.",
    ),
    ("-preset", "preset", {"metavar": "NAME"}, "A known gateway. Default: `--preset`."),
    (
        "-config",
        "config",
        {"metavar": "FILE"},
        "This description instead of the nearest `gateway-bench.toml`.",
    ),
    (
        "-env",
        "env",
        {"metavar": "NAME=VALUE", "multiple": True},
        "A variable of this side only; wins over exported ones. Repeatable.",
    ),
    (
        "-env-file",
        "env_file",
        {"metavar": "FILE", "multiple": True},
        "Variables of this side only; exported ones win. Repeatable.",
    ),
    ("-entry", "entry", {"metavar": "FILE"}, "The file that is started."),
    (
        "-command",
        "command",
        {"metavar": "WORDS"},
        "The whole command, or with an entry its interpreter.",
    ),
    ("-upstream", "upstream", {"metavar": "simulated|own|URL"}, "Where its requests go."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideWords:
    """What was typed of one side."""

    letter: Letter
    home: Path
    """Folder of the gateway; with a commit, as it lies in the working tree there is."""
    ref: str | None = None
    config: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Any] = field(default_factory=dict)
    """By key of the description, those of both sides included; without the folder."""
    is_home_typed: bool = False

    def recorded(self, commit: str | None) -> dict[str, Any]:
        """Return what describes the same side again: no secret.

        Args:
            commit: What ``ref`` meant.
        """
        return {
            "home": str(self.home),
            "isHomeTyped": self.is_home_typed,
            "ref": commit,
            "config": None if self.config is None else str(self.config),
            "env": dict(self.env),
            "flags": {key: value for key, value in self.flags.items() if value is not None},
        }


def side_options(command: _F) -> _F:
    """Add what describes each side."""
    for letter in reversed(LETTERS):
        for ending, name, extra, text in reversed(_OPTIONS):
            command = click.option(
                f"--{letter}{ending}",
                f"{letter}_{name}",
                cls=SectionedOption,
                section=_SECTIONS[letter],
                help=text,
                **extra,
            )(command)
    return command


def side_words(letter: Letter, params: Mapping[str, Any], common: Mapping[str, Any]) -> SideWords:
    """Return what was typed of one side.

    Args:
        letter: Which.
        params: Of the command.
        common: What describes both sides, by key of the description.

    Raises:
        click.UsageError: A variable that is none, or a secret in plain sight.
    """

    def typed(name: str) -> Any:  # noqa: ANN401  as click has it
        return params.get(f"{letter}_{name}") or None

    env = dict(_variable(letter, one) for one in typed("env") or ())
    own = {name: typed(name) for name in ("preset", "entry", "command", "upstream")}
    own["env_files"] = list(typed("env_file")) if typed("env_file") else None
    own["env"] = env or None
    flags = {**common, **{key: value for key, value in own.items() if value is not None}}
    folder = typed("dir") or common.get("dir")
    config = typed("config")
    return SideWords(
        letter=letter,
        home=Path(folder or ".").expanduser().resolve(),
        is_home_typed=folder is not None,
        ref=typed("ref"),
        config=None if config is None else Path(config).expanduser().resolve(),
        env=env,
        flags={key: value for key, value in flags.items() if key != "dir"},
    )


def _variable(letter: Letter, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        message = f"`--{letter}-env {text}` is no `NAME=VALUE`"
        raise click.UsageError(message)
    if any(word in name.upper() for word in _SECRET_WORDS):
        message = (
            f"`--{letter}-env {name}=…` looks like a secret, which process tables and results "
            f"would show: put it into a file and name that with `--{letter}-env-file`"
        )
        raise click.UsageError(message)
    return name, value
