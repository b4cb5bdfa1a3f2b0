"""The command line: parse, one use case, say how it ended."""

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command that was typed and exit with its code."""
    # First of all, and light: see the module.
    try:
        from bench.cli.unseen import own_words

        words = own_words("orchestrator")
        from bench.cli.entry import run
        from orchestrator.cli.group import cli

        code = run(cli, words)
    except KeyboardInterrupt:  # while modules were loaded: nothing was done that could be told
        code = _INTERRUPTED
    sys.exit(code)
