"""Where the command line talks: stderr for people, stdout for data, both without secrets."""

import os
from dataclasses import dataclass, field

import click

from bench.keys import redact


@dataclass(slots=True, kw_only=True)
class Console:
    """One command's two streams and the secrets that must appear in neither.

    Every value that is a secret is told to ``keep_secret`` before anything can mention it.
    """

    wants_json: bool = False
    debug: bool = False
    secrets: set[str] = field(default_factory=set)

    def keep_secret(self, *values: str) -> None:
        """Mask ``values`` from now on."""
        self.secrets.update(value for value in values if value)

    def clean(self, text: str) -> str:
        """Return ``text`` with every known secret masked and nothing that steers a terminal."""
        shown = "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)
        return self.without_secrets(shown)

    def without_secrets(self, text: str) -> str:
        """Return ``text`` with every secret masked that is known by now."""
        return redact(text, self.secrets)

    def say(self, text: str) -> None:
        """Tell a person something, on stderr; that nobody can hear it ends no command."""
        try:
            click.echo(self.clean(text), err=True)
        except OSError:  # a full disk, a pipe or a terminal whose other end is gone
            point_at_nothing(2)

    def data(self, text: str) -> None:
        """Hand out data, on stdout."""
        click.echo(self.clean(text))


def point_at_nothing(descriptor: int) -> None:
    """Let a stream that takes nothing any more take everything, to the interpreter's last flush."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
