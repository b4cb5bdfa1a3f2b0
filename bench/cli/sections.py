"""Help that can be read: options under headings, and groups that load a command when it is used."""

from collections.abc import Mapping, MutableMapping, Sequence
from importlib import import_module
from typing import Any

import click

from bench.model.record import Value

_OTHER = "Talk and help"


class Lazy(Value, frozen=True, kw_only=True):
    """A command that is not imported before it runs."""

    path: str
    """``package.module:attribute``."""
    summary: str
    """One line for the group's help."""


class LazyGroup(click.Group):
    """A group whose help needs none of its commands: `--help` is a matter of milliseconds."""

    def __init__(
        self,
        name: str | None = None,
        commands: MutableMapping[str, click.Command] | None = None,
        lazy: Mapping[str, Lazy] | None = None,
        **attributes: Any,  # noqa: ANN401  passed on to click
    ) -> None:
        super().__init__(name, commands, **attributes)
        self._lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:  # type: ignore[explicit-override]  # typing.override came with 3.12
        """Return the commands in the order in which they were given, as people meet them."""
        return [
            *self._lazy,
            *(name for name in super().list_commands(ctx) if name not in self._lazy),
        ]

    def get_command(  # type: ignore[explicit-override]
        self, ctx: click.Context, cmd_name: str
    ) -> click.Command | None:
        """Import and return one command."""
        lazy = self._lazy.get(cmd_name)
        if lazy is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = lazy.path.partition(":")
        command = getattr(import_module(module), attribute)
        return command if isinstance(command, click.Command) else None

    def format_commands(  # type: ignore[explicit-override]
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the list from the summaries, without importing a command."""
        rows = [
            (name, self._lazy[name].summary if name in self._lazy else self._own_summary(ctx, name))
            for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _own_summary(self, ctx: click.Context, name: str) -> str:
        command = super().get_command(ctx, name)
        return command.get_short_help_str(80) if command else ""


class SectionedOption(click.Option):
    """An option that stands under a heading."""

    def __init__(
        self,
        param_decls: Sequence[str] | None = None,
        section: str = _OTHER,
        **attributes: Any,  # noqa: ANN401  passed on to click
    ) -> None:
        super().__init__(param_decls, **attributes)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help lists its options under their headings, in order of first use."""

    def format_options(  # type: ignore[explicit-override]
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write one list per heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            # What an argument is stands in the command's own text.
            is_option = isinstance(parameter, click.Option)
            row = parameter.get_help_record(ctx) if is_option else None
            if row is not None:
                section = getattr(parameter, "section", _OTHER)
                sections.setdefault(section, []).append(row)
        last = sections.pop(_OTHER, None)
        if last is not None:
            sections[_OTHER] = last
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl(rows)
