"""The command line: parse, one use case, say how it ended."""

import sys


def main() -> None:
    """Run the command that was typed and exit with its code."""
    # First of all, and light: see the module.
    from bench.cli.unseen import own_words

    words = own_words("orchestrator")
    from bench.cli.entry import run
    from orchestrator.cli.group import cli

    sys.exit(run(cli, words))
